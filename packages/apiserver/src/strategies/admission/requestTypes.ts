// The declared types of `request` and `namespaceObject` in expressions of webhooks and policies. Fields that
// Kubernetes does not declare (`request.uid`, `request.object`) are compile errors, as upstream.

import {
  BOOL,
  type CelType,
  DYN,
  type FieldType,
  INT,
  listOf,
  mapOf,
  STRING,
  structOf,
  TIMESTAMP,
} from '@lapse/cel/cel';

type Fields = Readonly<Record<string, CelType>>;

const TEXTS = listOf(STRING);
const texts = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, STRING]));
const named = (name: string): CelType => structOf(`kubernetes.${name}`);

const STRUCTS: Readonly<Record<string, Fields>> = {
  'kubernetes.GroupVersionKind': texts('group', 'version', 'kind'),
  'kubernetes.GroupVersionResource': texts('group', 'version', 'resource'),
  'kubernetes.UserInfo': { ...texts('username', 'uid'), groups: TEXTS, extra: mapOf(STRING, TEXTS) },
  'kubernetes.AdmissionRequest': {
    ...texts('subResource', 'requestSubResource', 'name', 'namespace', 'operation'),
    kind: named('GroupVersionKind'),
    resource: named('GroupVersionResource'),
    requestKind: named('GroupVersionKind'),
    requestResource: named('GroupVersionResource'),
    userInfo: named('UserInfo'),
    dryRun: BOOL,
    options: DYN,
  },
  'kubernetes.NamespaceSpec': { finalizers: TEXTS },
  'kubernetes.NamespaceCondition': {
    ...texts('status', 'type', 'message', 'reason'),
    lastTransitionTime: TIMESTAMP,
  },
  'kubernetes.NamespaceStatus': { conditions: listOf(named('NamespaceCondition')), phase: STRING },
  'kubernetes.NamespaceMetadata': {
    ...texts('name', 'generateName', 'namespace', 'UID', 'resourceVersion'),
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    creationTimestamp: TIMESTAMP,
    deletionTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    generation: INT,
    finalizers: TEXTS,
  },
  'kubernetes.Namespace': {
    metadata: named('NamespaceMetadata'),
    spec: named('NamespaceSpec'),
    status: named('NamespaceStatus'),
  },
};

export const REQUEST = named('AdmissionRequest');
export const NAMESPACE = named('Namespace');

export const isRequestStruct = (name: string): boolean => Object.hasOwn(STRUCTS, name);

export function requestField(struct: string, field: string): FieldType | undefined {
  const fields = isRequestStruct(struct) ? STRUCTS[struct]! : {};
  return Object.hasOwn(fields, field) ? { type: fields[field]! } : undefined;
}
