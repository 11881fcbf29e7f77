// Policies on a real API server: a kind that is added later, the webhook over HTTPS, authors and service accounts with
// and without permissions, and a controller that only has the permissions that it declares.

import { realClock } from '@lapse/base/clock';
import { formatTime, millis, plus } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { defineKind, type Kind } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { selfSigned } from '@lapse/kube/client/certificate.testkit';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { realCluster } from '@lapse/kube/client/kube.testkit';
import { type ControllerDefinition, rightsOf } from '@lapse/runtime/definition';
import { type Host, listen } from '@lapse/runtime/host/listen';
import { reviewPath } from '@lapse/runtime/host/reviewPaths';
import { webhookHandler } from '@lapse/runtime/host/webhook';
import { SOCKET_LIVENESS } from '@lapse/runtime/liveness';
import { Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ClusterTTLPolicy, ClusterTTLPolicyKind, TTLPolicy, TTLPolicyKind } from '#api/ttlPolicy';
import { trustedTime } from '#deletion/skewGuard';
import { PipelineRun, PipelineRunKind, run, ttlPolicy } from '../../../../../test/scenarios/pipelineRuns.ts';
import type { Parts } from '../family.ts';
import { ttlPolicyFamily } from './family.ts';

const cluster = realCluster();
const LAPSE = { namespace: 'lapse-system', name: 'lapse' };
const LAPSE_USER = `system:serviceaccount:${LAPSE.namespace}:${LAPSE.name}`;
const CONFIGURATION = {
  ttlPolicy: {
    concurrency: 4,
    deletionEvents: false,
    impersonation: 'cluster',
    authorKeySecret: { namespace: LAPSE.namespace, name: 'lapse-author-key' },
  },
} as never;

const kindOf = (group: string, kind: string, resource: string, namespaced: boolean): Kind =>
  defineKind({ group, version: 'v1', kind, resource, namespaced });
const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const ClusterRole = kindOf(RBAC, 'ClusterRole', 'clusterroles', false);
const ClusterRoleBinding = kindOf(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', false);
const Role = kindOf(RBAC, 'Role', 'roles', true);
const RoleBinding = kindOf(RBAC, 'RoleBinding', 'rolebindings', true);
const Mutating = kindOf(ADMISSION, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', false);
const Validating = kindOf(
  ADMISSION,
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  false,
);

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}
const rule = (group: string, resource: string, ...verbs: string[]): Rule => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

let count = 0;
/** Grants rules to a user, cluster-wide or in one namespace. */
async function grant(user: string, rules: readonly Rule[], namespace?: string): Promise<void> {
  const name = `grant-${count++}`;
  const apiVersion = `${RBAC}/v1`;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const [role, binding] = namespace === undefined ? [ClusterRole, ClusterRoleBinding] : [Role, RoleBinding];
  objectOf(await cluster.client.create(role, { apiVersion, kind: role.kind, metadata, rules }));
  const subjects = [{ kind: 'User', apiGroup: RBAC, name: user }];
  const roleRef = { apiGroup: RBAC, kind: role.kind, name };
  objectOf(
    await cluster.client.create(binding, { apiVersion, kind: binding.kind, metadata, subjects, roleRef }),
  );
}

let parts: Parts;
let manager: Manager;
let host: Host;
let caBundle: string;
const eventually = (look: () => Promise<void>, timeout = 20_000) =>
  vi.waitFor(look, { timeout, interval: 50 });

/** As lapse, with only the permissions of its service account. */
async function createParts(): Promise<{ client: Client; parts: Parts }> {
  const client = await cluster.clientOf({
    impersonate: { user: LAPSE_USER, groups: ['system:authenticated'] },
  });
  const impersonated = new Map<string, Client>();
  for (const name of ['cleanup', 'powerless'])
    impersonated.set(
      name,
      await cluster.clientOf({ impersonate: { user: `system:serviceaccount:default:${name}` } }),
    );
  const made = ttlPolicyFamily.create(
    {
      clock: realClock,
      random: systemRandom,
      registry: new Registry(),
      log: silentLog,
      guard: trustedTime(realClock),
      client,
      impersonate: ({ name }) => impersonated.get(name)!,
      actAs: 'author',
      isEnabled: () => true,
    },
    CONFIGURATION,
  );
  return { client, parts: made };
}

const PATH_SECRET = 'for-the-api-server';
const webhookFor = (phase: string): object => ({
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  failurePolicy: 'Fail',
  rules: [
    {
      apiGroups: ['lapse.dev'],
      apiVersions: ['*'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['ttlpolicies', 'clusterttlpolicies'],
    },
  ],
  ...parts.admission
    .filter((fn) => fn.phase === phase)
    .map(({ name }) => ({
      name: `${name}.lapse.dev`,
      clientConfig: { url: `https://127.0.0.1:${host.port}${reviewPath(name, PATH_SECRET)}`, caBundle },
    }))[0],
});

async function installWebhooks(): Promise<void> {
  for (const [kind, phase] of [
    [Mutating, 'mutating'],
    [Validating, 'validating'],
  ] as const) {
    const metadata = { name: 'lapse' };
    const webhooks = [webhookFor(phase)];
    objectOf(
      await cluster.client.create(kind, {
        apiVersion: `${ADMISSION}/v1`,
        kind: kind.kind,
        metadata,
        webhooks,
      }),
    );
  }
  // The API server calls the webhook some moments later: wait until it refuses an invalid policy.
  const probe = { ...ttlPolicy('probe', { finishedAt: 'objekt' }) } as TTLPolicy;
  await eventually(async () => {
    expect((await cluster.client.create(TTLPolicy, probe, { dryRun: true })).kind).toBe('invalid');
  });
}

async function removeWebhooks(): Promise<void> {
  for (const kind of [Mutating, Validating]) await cluster.client.delete(kind, { name: 'lapse' });
  const probe = { ...ttlPolicy('probe', { finishedAt: 'objekt' }) } as TTLPolicy;
  await eventually(async () => {
    expect((await cluster.client.create(TTLPolicy, probe, { dryRun: true })).kind).toBe('created');
  });
}

beforeAll(async () => {
  const { client: admin } = cluster;
  for (const { crd } of [TTLPolicyKind, ClusterTTLPolicyKind])
    objectOf(await admin.create(CustomResourceDefinition, crd as CustomResourceDefinition));
  for (const name of [LAPSE.namespace, 'ci', 'other'])
    objectOf(await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  const made = await createParts();
  parts = made.parts;
  const declared = parts.controllers.flatMap((controller: ControllerDefinition) => rightsOf(controller));
  await grant(
    LAPSE_USER,
    declared.map(({ group, resource, verbs }) => rule(group, resource, ...verbs)),
  );
  await grant(LAPSE_USER, [rule('tekton.dev', 'pipelineruns', 'list', 'watch', 'get', 'delete')]);
  await grant(LAPSE_USER, [rule('', 'serviceaccounts', 'impersonate')]);
  for (const { namespace, group, resource, verbs } of parts.rights ?? [])
    await grant(LAPSE_USER, [rule(group, resource, ...verbs)], namespace);
  const policies = rule('lapse.dev', '*', '*');
  await grant('jane', [
    policies,
    rule('tekton.dev', 'pipelineruns', '*'),
    rule('', 'serviceaccounts', 'impersonate'),
  ]);
  await grant('bob', [policies]);
  const pair = selfSigned('lapse', ['127.0.0.1']);
  caBundle = Buffer.from(pair.cert).toString('base64');
  const { handle, refuse } = webhookHandler({
    functions: parts.admission,
    clock: realClock,
    log: silentLog,
    registry: new Registry(),
    callers: { paths: { accepted: () => [PATH_SECRET], refreshSoon: () => {} } },
  });
  const certificate = { current: () => pair, onChange: () => () => {}, close: () => {} };
  host = await listen({ handle, refuse, port: 0, address: '127.0.0.1', certificate });
  await eventually(async () => {
    await made.client.list(TTLPolicy);
    await made.client.list(ClusterTTLPolicy);
  });
  await installWebhooks();
  manager = new Manager({
    clock: realClock,
    random: systemRandom,
    client: made.client,
    controllers: parts.controllers,
    liveness: SOCKET_LIVENESS,
    enforceRights: true,
  });
  manager.start();
  await eventually(async () => expect(manager.phase).toBe('leading'));
});
afterAll(async () => {
  await manager?.stop();
  await host?.close();
});

const as = (user: string) => cluster.clientOf({ impersonate: { user, groups: ['system:authenticated'] } });

async function createRun(name: string, namespace = 'default', finishedAgo = 60_000): Promise<void> {
  const { status: _, ...object } = run(name, { namespace });
  objectOf(await cluster.client.create(PipelineRun, object as KubeObject));
  const completionTime = formatTime(plus(realClock.now(), millis(-finishedAgo)));
  objectOf(
    await cluster.client.patch(
      PipelineRun,
      { namespace, name },
      { type: 'merge', patch: { status: { completionTime } } },
      { subresource: 'status' },
    ),
  );
}
const exists = async (name: string, namespace = 'default') =>
  (await cluster.client.get(PipelineRun, { namespace, name })) !== undefined;
const ready = async (name: string): Promise<string> => {
  const policy = await cluster.client.get(TTLPolicy, { namespace: 'default', name });
  const condition = policy?.status?.conditions?.[0];
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
};
const remove = (name: string) => cluster.client.delete(TTLPolicy, { namespace: 'default', name });
const policyOf = (...given: Parameters<typeof ttlPolicy>) => ttlPolicy(...given) as TTLPolicy;

describe('policies on a real API server', () => {
  test('a policy for a kind that is not served waits, and works when the CRD is created', async () => {
    const jane = await as('jane');
    objectOf(await jane.create(TTLPolicy, policyOf('later', { ttl: '1s' })));
    await eventually(async () => expect(await ready('later')).toMatch(/^False KindNotServed/));
    objectOf(
      await cluster.client.create(CustomResourceDefinition, PipelineRunKind.crd as CustomResourceDefinition),
    );
    await eventually(async () => expect(await ready('later')).toMatch(/^True Enforcing/));
    await createRun('a');
    await eventually(async () => expect(await exists('a')).toBe(false));
    await remove('later');
  });

  test('the webhook refuses an author without permissions and names the field', async () => {
    const bob = await as('bob');
    const answer = await bob.create(TTLPolicy, policyOf('mine', { ttl: '1s' }));
    expect(answer).toMatchObject({
      kind: 'invalid',
      error: {
        message: expect.stringContaining('bob may not list pipelineruns.tekton.dev in namespace default'),
        status: { details: { causes: [{ field: 'spec.target' }] } },
      },
    });
  });

  test('a user who changes the spec of a policy needs the permissions; a change of labels needs none', async () => {
    const [jane, bob] = [await as('jane'), await as('bob')];
    objectOf(await jane.create(TTLPolicy, policyOf('shared', { ttl: '1h' })));
    const key = { namespace: 'default', name: 'shared' };
    const labels = await bob.patch(TTLPolicy, key, {
      type: 'merge',
      patch: { metadata: { labels: { a: 'b' } } },
    });
    expect(labels.kind).toBe('patched');
    const spec = await bob.patch(TTLPolicy, key, { type: 'merge', patch: { spec: { ttl: '1s' } } });
    expect(spec.kind).toBe('invalid');
    await eventually(async () => expect(await ready('shared')).toMatch(/^True Enforcing/));
    await remove('shared');
  });

  test('a service account without permissions deletes nothing until they are granted', async () => {
    const jane = await as('jane');
    await createRun('b');
    objectOf(
      await jane.create(TTLPolicy, policyOf('account', { ttl: '1s', serviceAccountName: 'powerless' })),
    );
    await eventually(async () =>
      expect(await ready('account')).toMatch(
        /^False AccountNotPermitted: system:serviceaccount:default:powerless may not list pipelineruns/,
      ),
    );
    expect(await exists('b')).toBe(true);
    await grant(
      'system:serviceaccount:default:powerless',
      [rule('tekton.dev', 'pipelineruns', 'list', 'delete')],
      'default',
    );
    await eventually(async () => expect(await exists('b')).toBe(false), 60_000);
    await remove('account');
  });

  test('the API server stops a service account that loses its permissions, and the condition reports it', async () => {
    const jane = await as('jane');
    const user = 'system:serviceaccount:default:cleanup';
    await grant(user, [rule('tekton.dev', 'pipelineruns', 'list', 'delete')], 'default');
    const granted = `grant-${count - 1}`;
    objectOf(await jane.create(TTLPolicy, policyOf('losing', { ttl: '1s', serviceAccountName: 'cleanup' })));
    await eventually(async () => expect(await ready('losing')).toMatch(/^True Enforcing/));
    await cluster.client.delete(RoleBinding, { namespace: 'default', name: granted });
    const account = await cluster.clientOf({ impersonate: { user } });
    await eventually(async () => {
      await expect(account.list(PipelineRun, { namespace: 'default' })).rejects.toThrow('forbidden');
    });
    await createRun('c');
    await eventually(async () => expect(await ready('losing')).toMatch(/^False AccountNotPermitted/), 60_000);
    expect(await exists('c')).toBe(true);
    await remove('losing');
  });

  test('a review finds the missing permissions of the controller, and the condition names them', async () => {
    objectOf(
      await cluster.client.create(
        TTLPolicy,
        policyOf('maps', { target: { apiVersion: 'v1', kind: 'ConfigMap' }, from: 'Created', ttl: '1000h' }),
      ),
    );
    await eventually(async () =>
      expect(await ready('maps')).toMatch(
        /^False NotPermitted: the controller may not list configmaps in namespace default, watch .*, delete /,
      ),
    );
    await remove('maps');
  });

  test('a ClusterTTLPolicy acts only in the namespaces that it selects', async () => {
    const jane = await as('jane');
    await createRun('d', 'ci');
    await createRun('d', 'other');
    const labels = { 'kubernetes.io/metadata.name': 'ci' };
    const { metadata: _, ...rest } = ttlPolicy('x', {
      ttl: '1s',
      namespaceSelector: { matchLabels: labels },
    });
    const policy = { ...rest, kind: 'ClusterTTLPolicy', metadata: { name: 'ci-runs' } } as ClusterTTLPolicy;
    objectOf(await jane.create(ClusterTTLPolicy, policy));
    await eventually(async () => expect(await exists('d', 'ci')).toBe(false));
    expect(await exists('d', 'other')).toBe(true);
    await cluster.client.delete(ClusterTTLPolicy, { name: 'ci-runs' });
  });

  test('a policy that was created without the webhook deletes nothing', async () => {
    await removeWebhooks();
    const bob = await as('bob');
    await createRun('e');
    objectOf(await bob.create(TTLPolicy, policyOf('smuggled', { ttl: '1s' })));
    await eventually(async () => expect(await ready('smuggled')).toMatch(/^False AuthorUnknown/));
    await installWebhooks();
    // A user who only changes its metadata later does not become its author.
    const jane = await as('jane');
    const key = { namespace: 'default', name: 'smuggled' };
    await jane.patch(TTLPolicy, key, { type: 'merge', patch: { metadata: { labels: { seen: 'yes' } } } });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await ready('smuggled')).toMatch(/^False AuthorUnknown/);
    expect(await exists('e')).toBe(true);
    // A user with the permissions becomes its author by a claim.
    const claim = {
      type: 'merge',
      patch: { metadata: { annotations: { 'lapse.dev/author': 'claim' } } },
    } as const;
    expect((await bob.patch(TTLPolicy, key, claim)).kind).toBe('invalid');
    expect((await jane.patch(TTLPolicy, key, claim)).kind).toBe('patched');
    await eventually(async () => expect(await exists('e')).toBe(false), 60_000);
    await remove('smuggled');
  });
});
