// The kinds of the random requests: the validated built-in ones. `{ns}` stands for the namespace of a sequence. It is
// also part of the names of cluster-scoped objects, so that sequences can run concurrently.

import { FUZZ_KINDS, Fuzzer, type FuzzKind } from '@lapse/apiserver/strategies/fuzz.testkit';
import { clone, type JsonObject } from '@lapse/kube/api/json';
import { withoutEmptyBundles } from './exceptions.ts';
import { malform, VALID_CHANCE } from './malformed.ts';
import type { Subject } from './types.ts';

const VALIDATED = new Set([
  'Job',
  'Pod',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'StorageClass',
  'Lease',
  'Event',
  'Role',
  'RoleBinding',
  'ConfigMap',
  'Secret',
  'ValidatingWebhookConfiguration',
]);

const RBAC = 'rbac.authorization.k8s.io';
const webhook = {
  name: 'a.b.c',
  clientConfig: { url: 'https://x' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};

/** Kinds for which the fuzzer of the strategies has no entry. */
const MORE: readonly FuzzKind[] = [
  { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', cluster: true, base: {}, status: true },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    cluster: true,
    base: { rules: [] },
    fields: ['rules', 'aggregationRule'],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    cluster: true,
    base: { roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' } },
    fields: ['roleRef', 'subjects'],
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    cluster: true,
    base: { webhooks: [webhook] },
    fields: ['webhooks'],
  },
  {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    plural: 'events',
    base: {
      eventTime: '2024-01-01T00:00:00.000000Z',
      action: 'Testing',
      reason: 'Testing',
      type: 'Normal',
      reportingController: 'example.com/test',
      reportingInstance: 'test-1',
      regarding: { kind: 'Pod', namespace: '{ns}', name: 'a' },
    },
    fields: ['regarding', 'reason', 'note', 'series', 'action', 'related', 'type', 'reportingController'],
  },
];

/** A stored webhook would be called for the requests of all other sequences. */
const isWebhook = (kind: string): boolean => kind.endsWith('WebhookConfiguration');

export const BUILTIN: readonly Subject[] = [
  ...FUZZ_KINDS.filter(({ kind }) => VALIDATED.has(kind)),
  ...MORE,
].map(builtinSubject);

export function builtinSubject(kind: FuzzKind): Subject {
  const fields = kind.fields ?? ['spec'];
  return {
    name: `${kind.kind} ${kind.apiVersion}`,
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    collection: collectionOf(kind),
    cluster: kind.cluster === true,
    custom: false,
    onlyDry: isWebhook(kind.kind),
    rewritten: kind.kind === 'PersistentVolumeClaim',
    subresources: kind.status ? ['status'] : [],
    selectable: ['metadata.name'],
    base: () => clone(kind.base) as JsonObject,
    edit(object, pick) {
      if (pick.chance(VALID_CHANCE)) new Fuzzer(pick.int(2 ** 31)).edit(object, kind, fields);
      else malform(object, pick);
      withoutEmptyBundles(object);
    },
    editStatus(object, pick) {
      if (pick.chance(VALID_CHANCE)) new Fuzzer(pick.int(2 ** 31)).edit(object, kind, ['status']);
      else malform(object, pick, 'status');
    },
  };
}

function collectionOf({ apiVersion, plural, cluster }: FuzzKind): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return cluster ? `${root}/${plural}` : `${root}/namespaces/{ns}/${plural}`;
}
