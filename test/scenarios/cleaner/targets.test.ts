// Targets of a Cleaner: which kinds and objects they select, what conditions read of them, and what is reported if they
// cannot be found.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTime, hours, instant, minutes, seconds } from '@lapse/base/instant';
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
import { widgetOf, widgetsOf } from '../widgets.ts';
import {
  askedAboutTargets,
  begin,
  cleaner,
  configMap,
  KNATIVE,
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

const namespaceOf = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});
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

describe('targets that do not exist', () => {
  const waiting = (more: Partial<CleanerSpec> = {}) =>
    cleaner({
      ttl: '0s',
      targets: [target('a', 'a', { include: true, delete: true })],
      conditions: ['has(a.metadata.labels) && "done" in a.metadata.labels'],
      retry: { period: '5h' },
      ...more,
    });

  scenario(
    '9. a missing included target is reported, and evaluated when it appears, not at the period',
    async (scene) => {
      begin(scene);
      await scene.given.object(
        waiting({ targets: [target('a', 'a', { include: true }), target('b', 'a', { delete: true })] }),
      );
      expect(await ready(scene)).toMatchObject({
        status: 'False',
        reason: 'TargetNotFound',
        message: 'ConfigMap a (a) does not exist',
      });
      await scene.when.timePasses(minutes(10));
      await scene.when.user.apply(configMap('a'));
      expect(await reasonOf(scene)).toBe('WaitingForConditions');
      await scene.when.user.delete('configmap/a');
      expect(await reasonOf(scene)).toBe('TargetNotFound');
      await scene.when.user.apply(configMap('a', { done: 'yes' }));
      await scene.then.isGone('configmap/a');
      await scene.then.isGone('cleaner/c');
    },
  );

  scenario('10. a missing target that conditions do not read never blocks', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('b'),
      cleaner({
        ttl: '0s',
        targets: [target('a', 'missing', { delete: true }), target('b', 'b', { delete: true })],
      }),
    ]);
    await scene.then.isGone('configmap/b');
    await scene.then.isGone('cleaner/c');
  });

  scenario('11. when all targets are gone already, the Cleaner is deleted, with one Event', async (scene) => {
    begin(scene);
    await scene.given.object(
      cleaner({
        ttl: '0s',
        targets: [target('a', 'missing', { delete: true }), target('b', { app: 'x' }, { delete: true })],
        helm: { release: 'nothing', delete: true },
      }),
    );
    await scene.then.isGone('cleaner/c');
    const events = await scene.then.events('cleaner/c');
    expect(events.map(({ reason }) => reason)).toEqual(['NothingToDelete']);
  });

  const onWidget = waiting({
    targets: [
      {
        name: 'w',
        reference: { apiGroup: 'example.com', kind: 'widget', matchLabels: { app: 'x' } },
        includeWhenEvaluating: true,
      },
      target('b', 'b', { delete: true }),
    ],
    conditions: ['w.items.size() > 0'],
  });
  const widgets = widgetsOf('example.com');

  scenario(
    '12. a kind that is not served is reported, and found when its CRD is created, without a restart',
    async (scene) => {
      begin(scene);
      await scene.given.object([configMap('b'), onWidget]);
      expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'KindNotServed' });
      await scene.when.timePasses(seconds(20));
      await scene.when.user.apply(widgets);
      expect(await reasonOf(scene)).toBe('WaitingForConditions');
      await scene.when.user.apply(widgetOf(widgets, 'w', {}, { app: 'x' }));
      await scene.then.isGone('configmap/b');
    },
  );

  scenario('12. discovery that lags behind a CRD is retried soon, but not for ever', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('b'), onWidget]);
    await scene.when.timePasses(seconds(20));
    // The CRD exists, but its kind is not served for some seconds.
    const hidden = {
      ...widgets,
      spec: {
        ...widgets.spec,
        versions: [
          { ...widgets.spec.versions[0]!, served: false },
          { ...widgets.spec.versions[0]!, name: 'v0', served: false, storage: false },
        ],
      },
    };
    await scene.when.user.apply(hidden);
    const looks = async () => (await scene.simulation()).reconciles.length;
    const before = await looks();
    await scene.when.timePasses(seconds(30));
    expect((await looks()) - before).toBeGreaterThanOrEqual(4);
    await scene.when.timePasses(minutes(10));
    const later = await looks();
    expect(later - before).toBeLessThan(14);
    await scene.when.user.apply(widgets);
    expect(await reasonOf(scene)).toBe('WaitingForConditions');
  });

  scenario('12. during a deletion, a kind that no longer exists has no objects', async (scene) => {
    begin(scene);
    await scene.given.object(widgets);
    await scene.given.object([configMap('b'), widgetOf(widgets, 'w')]);
    scene.when.justBefore('DELETE', () =>
      scene.when.user.delete('customresourcedefinition/widgets.example.com'),
    );
    await scene.when.user.apply(
      cleaner({
        ttl: '0s',
        targets: [
          { name: 'w', reference: { apiGroup: 'example.com', kind: 'widget', name: 'w' }, delete: true },
          target('b', 'b', { delete: true }),
        ],
      }),
    );
    await scene.then.isGone('configmap/b');
    await scene.then.isGone('cleaner/c');
  });

  scenario('14. objects of another namespace with the same name and labels are kept', async (scene) => {
    begin(scene);
    await scene.given.object([
      namespaceOf('elsewhere'),
      configMap('a', { app: 'x' }),
      configMap('a', { app: 'x' }, { namespace: 'elsewhere' }),
      cleaner({
        ttl: '0s',
        targets: [target('one', 'a', { delete: true }), target('many', { app: 'x' }, { delete: true })],
      }),
    ]);
    await scene.then.isGone('default/configmap/a');
    await scene.then.exists('elsewhere/configmap/a');
  });
});

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
