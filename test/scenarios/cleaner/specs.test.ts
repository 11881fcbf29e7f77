// Specs that have no meaning, and conditions that cannot be evaluated.

import { formatTime, hours, instant, minutes } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { CleanerSpec } from 'lapse/api/cleaner';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';

describe('13. specs that have no meaning', () => {
  const rows: Record<string, Partial<CleanerSpec>> = {
    'a cluster-scoped kind': {
      targets: [{ name: 'n', reference: { kind: 'namespace', name: 'default' }, delete: true }],
    },
    'a kind of RBAC': {
      targets: [
        {
          name: 'r',
          reference: { apiGroup: 'rbac.authorization.k8s.io', kind: 'rolebinding', matchLabels: { a: 'b' } },
          delete: true,
        },
      ],
    },
    'admission configuration': {
      targets: [
        {
          name: 'r',
          reference: {
            apiGroup: 'admissionregistration.k8s.io',
            kind: 'validatingwebhookconfiguration',
            name: 'x',
          },
          delete: true,
        },
      ],
    },
    'another Cleaner': {
      targets: [
        { name: 'r', reference: { apiGroup: 'cleaner.vtex.dev', kind: 'cleaner', name: 'x' }, delete: true },
      ],
    },
    'empty labels': { targets: [target('a', {}, { delete: true })] },
    'a name and labels': {
      targets: [
        { name: 'a', reference: { kind: 'configmap', name: 'a', matchLabels: { a: 'b' } }, delete: true },
      ],
    },
    neither: { targets: [{ name: 'a', reference: { kind: 'configmap' }, delete: true }] },
    'a target named time': { targets: [target('time', 'a', { delete: true })] },
    'a target named my-pod': { targets: [target('my-pod', 'a', { delete: true })] },
    'a target named in': { targets: [target('in', 'a', { delete: true })] },
    'a name used twice': { targets: [target('a', 'a', { delete: true }), target('a', 'b')] },
    'a name that is a path': { targets: [target('a', '../../secrets/x', { delete: true })] },
    'an invalid label': { targets: [target('a', { 'a=b,c': 'd' }, { delete: true })] },
    'conditions without a period': { targets: [target('a', 'a', { delete: true })], conditions: ['true'] },
    'a period below a second': {
      targets: [target('a', 'a', { delete: true })],
      conditions: ['true'],
      retry: { period: '10ms' },
    },
    'a negative period': { targets: [target('a', 'a', { delete: true })], retry: { period: '-1h' } },
    'a negative TTL': { ttl: '-1s', targets: [target('a', 'a', { delete: true })] },
    'a TTL in days': { ttl: '2d', targets: [target('a', 'a', { delete: true })] },
    'an invalid release name': {
      helm: { release: 'Not_A_Release', delete: true },
      targets: [target('a', 'a', { delete: true })],
    },
    '18. an unknown name in a branch that is never taken': {
      conditions: ['true || unknown.field'],
      retry: { period: '1h' },
      targets: [target('a', 'a', { delete: true })],
    },
    '18. a target that conditions may not see': {
      conditions: ['a.metadata.name == "a"'],
      retry: { period: '1h' },
      targets: [target('a', 'a', { delete: true })],
    },
    '18. a number for a condition': {
      conditions: ['2'],
      retry: { period: '1h' },
      targets: [target('a', 'a', { delete: true })],
    },
    'a condition that does not parse': {
      conditions: ['a &&'],
      retry: { period: '1h' },
      targets: [target('a', 'a', { delete: true })],
    },
  };

  scenario.each(rows, async (scene, spec) => {
    begin(scene);
    await scene.given.object(configMap('a'));
    const simulation = await scene.simulation();
    // Admission refuses it …
    await expect(scene.when.user.apply(cleaner({ ttl: '0s', ...spec }))).rejects.toThrow(
      /Forbidden|Invalid|denied/i,
    );
    // … and a spec that was stored without admission is reported in status and has no effect.
    simulation.crash();
    await scene.when.user.apply(cleaner({ ttl: '0s', ...spec }));
    await simulation.restart();
    expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
    await scene.when.timePasses(hours(10));
    expect(scene.then.requests(({ verb }) => verb === 'delete' || verb === 'deletecollection')).toEqual([]);
    await scene.then.exists('configmap/a');
    expect((await statusOf(scene)).nextScheduledEvaluation).toBeUndefined();
  });

  scenario('a refusal shows the invalid value, or says that it is missing', async (scene) => {
    begin(scene);
    const refusal = scene.when.user.apply(
      cleaner({
        ttl: '2 weeks',
        targets: [target('my-pod', 'a')],
        conditions: ['true'],
      }),
    );
    await expect(refusal).rejects.toThrow(
      /spec\.ttl: Invalid value: "2 weeks": .*targets\[0\]\.name: Invalid value: "my-pod": .*retry\.period: Required value: /s,
    );
  });
});

describe('conditions', () => {
  const judging = (conditions: string[], more: Partial<CleanerSpec> = {}) =>
    cleaner({
      ttl: '0s',
      targets: [target('a', 'a', { include: true, delete: true })],
      conditions,
      retry: { period: '5h' },
      ...more,
    });

  scenario(
    '17. one true, one an error: both are reported, and the next evaluation is at the period',
    async (scene) => {
      begin(scene);
      await scene.given.object([configMap('a'), judging(['true', 'a.spec.nothing == 1'])]);
      expect(await reasonOf(scene)).toBe('ConditionError');
      const { evaluations, nextScheduledEvaluation } = await statusOf(scene);
      expect(evaluations?.map(({ outcome }) => outcome)).toEqual(['true', 'error']);
      expect(nextScheduledEvaluation).toBe(formatTime(instant(VIRTUAL_START + hours(5))));
      await scene.then.exists('configmap/a');
    },
  );

  scenario('19. JSON integers stay integers', async (scene) => {
    begin(scene);
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    };
    await scene.given.object([
      deployment,
      cleaner({
        ttl: '0s',
        targets: [
          {
            name: 'd',
            reference: { apiGroup: 'apps', kind: 'Deployment', name: 'd' },
            includeWhenEvaluating: true,
            delete: true,
          },
        ],
        conditions: ['d.spec.replicas + 1 == 3'],
        retry: { period: '1h' },
      }),
    ]);
    await scene.then.isGone('deployment/d');
  });

  scenario('20. an expression over budget is refused, and others stay responsive', async (scene) => {
    begin(scene);
    const many = Array.from({ length: 300 }, (_, i) => configMap(`m${i}`, { app: 'x' }));
    await scene.given.object([
      configMap('a'),
      ...many,
      judging(
        [
          'm.items.all(x, m.items.all(y, m.items.all(z, x.metadata.name + y.metadata.name != z.metadata.name + "!")))',
        ],
        {
          targets: [target('m', { app: 'x' }, { include: true }), target('a', 'a', { delete: true })],
        },
      ),
      cleaner({ ttl: '1m', targets: [target('m0', 'm0', { delete: true })] }, { name: 'other' }),
    ]);
    expect(await reasonOf(scene)).toBe('BudgetExceeded');
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/m0');
    await scene.then.exists('configmap/a');
  });
});
