// The Cleaner of the proposal, unchanged, and its condition.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTime, hours, instant } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import type { CleanerSpec } from 'lapse/api/cleaner';
import {
  GUARDED_CONDITION,
  type RevisionGiven,
  revision,
  SEED_CONDITION,
} from 'lapse/controllers/cleaner/cleaner.testkit';
import { installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import {
  askedAboutTargets,
  begin,
  cleaner,
  configMap,
  KNATIVE,
  namespaceOf,
  ready,
  reasonOf,
  statusOf,
  target,
} from './kit.ts';

const ago = (hoursAgo: number): string => formatTime(instant(VIRTUAL_START - hours(hoursAgo)));
/** Quoted verbatim, except for the two placeholders that the proposal leaves open. */
const SEED = readFileSync(join(import.meta.dirname, 'fixtures/proposal.yaml'), 'utf8')
  .replace('<nginx-proxy-id>', 'p1')
  .replace('<timestamp>', '2026-02-01T00:00:00Z');
const SEED_REF = 'faststore-proxy/cleaner/sfj-commit--account';

const service = (name: string, apiVersion: string, spec = {}): KubeObject => ({
  apiVersion,
  kind: 'Service',
  metadata: { name, namespace: 'faststore-proxy' },
  spec,
});

/** The cluster of the proposal: Knative Services created by a release, core Services with the same names, Revisions. */
async function faststore(scene: Scene, revisions: readonly KubeObject[]): Promise<void> {
  begin(scene);
  scene.given.kinds(...KNATIVE);
  const release = { name: 'sfj-commit--account', namespace: 'faststore-proxy' };
  const manifest = ['sfj-commit--account', 'sfj-commit--account-node']
    .map((name) => `---\napiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: ${name}\n`)
    .join('');
  const ports = { ports: [{ port: 80 }] };
  await scene.given.object([
    namespaceOf('faststore-proxy'),
    installed(service('sfj-commit--account', 'serving.knative.dev/v1'), release),
    installed(service('sfj-commit--account-node', 'serving.knative.dev/v1'), release),
    service('sfj-commit--account', 'v1', ports),
    storedRelease({ ...release, manifest }),
    ...revisions,
  ]);
  await applyVerbatim(scene);
}

/** The unchanged text, as a request body. */
async function applyVerbatim(scene: Scene): Promise<void> {
  const { user, settle } = await scene.simulation();
  const answer = await user.raw({
    method: 'POST',
    path: '/apis/cleaner.vtex.dev/v1alpha/namespaces/faststore-proxy/cleaners?fieldValidation=Strict',
    headers: { 'content-type': 'application/yaml' },
    body: Buffer.from(SEED),
  });
  expect(answer.status, Buffer.from(answer.body).toString()).toBe(201);
  await settle();
}

describe('the YAML of the proposal, unchanged', () => {
  const idle = (name: string): KubeObject =>
    revision(name, { routes: 'sfj-a,preview-b', since: ago(400), namespace: 'faststore-proxy' });

  scenario(
    '5. lower-case kinds are those of the group they name; release, services and Cleaner are deleted',
    async (scene) => {
      await faststore(scene, [idle('sfj-commit--account-00001'), idle('sfj-commit--account-00002')]);
      expect(await reasonOf(scene, SEED_REF)).toBe('NotExpired');
      // The status in the YAML has no effect.
      expect((await statusOf(scene, SEED_REF)).resolvedTargets).toBeUndefined();
      await scene.when.timePasses(hours(359));
      expect(askedAboutTargets(scene, 'revisions')).toEqual([]);
      await scene.then.exists('faststore-proxy/service.serving.knative.dev/sfj-commit--account');
      await scene.when.timePasses(hours(1));
      await scene.then.isGone(SEED_REF);
      await scene.then.isGone('faststore-proxy/service.serving.knative.dev/sfj-commit--account');
      await scene.then.isGone('faststore-proxy/service.serving.knative.dev/sfj-commit--account-node');
      await scene.then.isGone('faststore-proxy/secret/sh.helm.release.v1.sfj-commit--account.v1');
      // A core Service with the same name is not a target. Knative deletes the Revisions.
      await scene.then.exists('faststore-proxy/service/sfj-commit--account');
      await scene.then.exists('faststore-proxy/revision/sfj-commit--account-00001');
    },
  );

  scenario('5. while it waits, status names the resolved targets', async (scene) => {
    const busy = revision('sfj-commit--account-00001', {
      routes: 'www',
      since: ago(400),
      namespace: 'faststore-proxy',
    });
    await faststore(scene, [busy]);
    await scene.when.timePasses(hours(360));
    expect(await reasonOf(scene, SEED_REF)).toBe('WaitingForConditions');
    expect((await statusOf(scene, SEED_REF)).resolvedTargets).toEqual([
      'sfj-commit--account-00001.revisions.serving.knative.dev/v1',
      'sfj-commit--account-node.services.serving.knative.dev/v1',
      'sfj-commit--account.services.serving.knative.dev/v1',
    ]);
    await scene.then.exists('faststore-proxy/service.serving.knative.dev/sfj-commit--account');
  });
});

describe('the condition of the proposal', () => {
  const looking = (condition: string): Partial<CleanerSpec> => ({
    ttl: '0s',
    targets: [
      {
        name: 'revisions',
        reference: {
          apiGroup: 'serving.knative.dev',
          kind: 'revision',
          matchLabels: { 'vtex.io/proxy': 'p1' },
        },
        includeWhenEvaluating: true,
      },
      target('a', 'a', { delete: true }),
    ],
    conditions: [condition],
    retry: { period: '5h' },
  });
  const judge = async (scene: Scene, condition: string, given: readonly RevisionGiven[]) => {
    begin(scene);
    scene.given.kinds(...KNATIVE);
    await scene.given.object([
      configMap('a'),
      ...given.map((one, i) => revision(`r${i}`, one)),
      cleaner(looking(condition)),
    ]);
  };

  scenario.each<[RevisionGiven[], boolean]>(
    {
      '6. routed by another service: kept': [[{ routes: 'www', since: ago(500) }], false],
      '6. active: kept': [[{ routes: 'sfj-a', active: 'True', since: ago(500) }], false],
      '6. idle for a short time: kept': [[{ routes: 'sfj-a', since: ago(10) }], false],
      '6. idle for a long time: deleted': [[{ routes: 'sfj-a', since: ago(361) }], true],
      '6. many, all idle for a long time: deleted': [
        [
          { routes: 'sfj-a', since: ago(361) },
          { routes: 'preview-b', since: ago(999) },
        ],
        true,
      ],
      '6. one of many routed: kept': [
        [
          { routes: 'sfj-a', since: ago(361) },
          { routes: 'sfj-a,www', since: ago(999) },
        ],
        false,
      ],
      '8. no revisions at all: the list is empty, and the service is deleted': [[], true],
    },
    async (scene, [given, goes]) => {
      await judge(scene, SEED_CONDITION, given);
      if (goes) await scene.then.isGone('configmap/a');
      else {
        await scene.then.exists('configmap/a');
        expect(await reasonOf(scene)).toBe('WaitingForConditions');
      }
    },
  );

  scenario(
    '7. a missing routes annotation is an error: reported, retried at the period, and nothing is deleted',
    async (scene) => {
      await judge(scene, SEED_CONDITION, [{ since: ago(999) }]);
      expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'ConditionError' });
      const { evaluations, nextScheduledEvaluation } = await statusOf(scene);
      expect(evaluations).toEqual([
        { index: 0, outcome: 'error', message: expect.stringMatching(/^no such key/) },
      ]);
      expect(nextScheduledEvaluation).toBe(formatTime(instant(VIRTUAL_START + hours(5))));
      await scene.when.timePasses(hours(50));
      await scene.then.exists('configmap/a');
    },
  );

  scenario('7. the form with a guard deletes', async (scene) => {
    await judge(scene, GUARDED_CONDITION, [{ since: ago(999) }]);
    await scene.then.isGone('configmap/a');
  });
});
