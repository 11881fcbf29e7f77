// Policies act with the rights of their author.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import { TTLPolicy } from 'lapse/api/ttlPolicy';
import { describe, expect } from 'vitest';
import { namespace, PipelineRunKind, run, ttlPolicy } from './pipelineRuns.ts';
import { messageOf, readyOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';

describe("the author's rights, with the webhook in the process", () => {
  scenario('signed when written, refused when changed without the webhook, claimed', async (scene) => {
    const { given, when, then } = scene;
    given.controllers('ttl-policy');
    given.kinds(PipelineRunKind);
    await given.object([
      namespace('lapse-system'),
      run('a', { finished: seconds(0) }),
      run('b', { finished: minutes(30) }),
    ]);
    await when.user.apply(ttlPolicy('runs'));
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    const { annotations = {} } = (await then.object('ttlpolicy/runs')).metadata;
    expect(JSON.parse(annotations['lapse.dev/author'] ?? '')).toMatchObject({ username: 'admin' });
    const simulation = await scene.simulation();
    simulation.crash();
    await simulation.patch('ttlpolicy/runs', { spec: { ttl: '1m' } });
    await simulation.restart();
    await when.timePasses(hours(1));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('False AuthorUnknown');
    await then.exists('pipelinerun/b');
    await when.user.patch('ttlpolicy/runs', { metadata: { annotations: { 'lapse.dev/author': 'claim' } } });
    await when.timePasses(seconds(1));
    await then.isGone('pipelinerun/b');
    await when.timePasses(minutes(1));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True Enforcing');
  });

  scenario(
    'deletes nothing after the signature of its author expired, until it is claimed',
    async (scene) => {
      const { given, when, then } = scene;
      given.controllers('ttl-policy');
      given.configuration({ authors: { sealLifetime: '2h' } });
      given.kinds(PipelineRunKind);
      await given.object([namespace('lapse-system'), run('a', { finished: seconds(0) })]);
      await when.user.apply(ttlPolicy('runs'));
      await when.timePasses(minutes(15));
      await then.isGone('pipelinerun/a');
      expect(await messageOf(then, 'ttlpolicy/runs')).toMatch(
        /^objects are deleted when they are due; the signature of its author expires at .*; to renew it, run: kubectl annotate -n default ttlpolicy runs lapse.dev\/author=claim --overwrite$/,
      );
      await given.object([run('b', { finished: minutes(112) })]);
      await when.timePasses(hours(3));
      expect(await readyOf(then, 'ttlpolicy/runs')).toBe('False AuthorExpired');
      expect(await messageOf(then, 'ttlpolicy/runs')).toMatch(
        /^the signature of its author admin expired at /,
      );
      await then.exists('pipelinerun/b');
      await when.user.patch('ttlpolicy/runs', { metadata: { annotations: { 'lapse.dev/author': 'claim' } } });
      await when.timePasses(seconds(1));
      await then.isGone('pipelinerun/b');
    },
  );

  scenario('server-side apply of an export needs no claim', async (scene) => {
    const { given, then } = scene;
    given.controllers('ttl-policy');
    given.kinds(PipelineRunKind);
    await given.object([namespace('lapse-system')]);
    const { user } = await scene.simulation();
    const apply = async (object: KubeObject, fieldManager: string): Promise<void> => {
      objectOf(await user.apply(TTLPolicy as Kind, object, { fieldManager, force: true }));
    };
    await apply(ttlPolicy('runs', { ttl: '1h' }), 'flux');
    const {
      managedFields: _,
      resourceVersion: __,
      ...exported
    } = (await then.object('ttlpolicy/runs')).metadata;
    for (const [ttl, metadata, manager] of [
      ['1h', exported, 'kubectl'],
      ['2h', exported, 'kubectl'],
      ['3h', ttlPolicy('runs').metadata, 'flux'],
      ['3h', ttlPolicy('runs').metadata, 'flux'],
    ] as const) {
      await apply({ ...ttlPolicy('runs', { ttl }), metadata }, manager);
      await scene.when.timePasses(minutes(1));
      expect([ttl, await readyOf(then, 'ttlpolicy/runs')]).toEqual([ttl, 'True Enforcing']);
    }
  });

  scenario(
    'a policy with an expired signature still keeps objects from a policy with a shorter TTL',
    async ({ given, when, then }) => {
      given.controllers('ttl-policy');
      given.configuration({ authors: { sealLifetime: '2h' } });
      given.kinds(PipelineRunKind);
      await given.object([namespace('lapse-system')]);
      await when.user.apply(ttlPolicy('longer', { ttl: '5h' }));
      await when.timePasses(minutes(90));
      await when.user.apply([ttlPolicy('shorter', { ttl: '10m' }), run('a', { finished: minutes(90) })]);
      await when.timePasses(minutes(60));
      expect(await readyOf(then, 'ttlpolicy/longer')).toBe('False AuthorExpired');
      await then.exists('pipelinerun/a');
    },
  );
});
