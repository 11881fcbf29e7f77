// Types and helpers of the cases about webhooks.

import type { Json, JsonObject } from '@lapse/kube/api/json';

export interface HookCase {
  readonly name: string;
  readonly hooks: readonly HookSpec[];
  readonly writes: readonly WriteStep[];
  /** Both refuse, with different messages. */
  readonly otherMessages?: boolean;
}

export interface HookSpec {
  readonly phase: 'Mutating' | 'Validating';
  readonly path: string;
  /** Fields of the webhook that differ from the default. */
  readonly more?: JsonObject;
  /** Default: every operation on ConfigMaps. */
  readonly rules?: Json;
}

export interface WriteStep {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject;
  readonly type?: string;
}

export const MAPS = '/api/v1/namespaces/NS/configmaps';
export const map = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...more },
});
export const create = (name: string, more: JsonObject = {}, query = ''): WriteStep => ({
  method: 'POST',
  path: MAPS + query,
  body: map(name, more),
});
export const validating = (path: string, more?: JsonObject): HookSpec => ({
  phase: 'Validating',
  path,
  ...(more === undefined ? {} : { more }),
});
export const mutating = (path: string, more?: JsonObject): HookSpec => ({
  phase: 'Mutating',
  path,
  ...(more === undefined ? {} : { more }),
});
export const rule = (operations: string[], resources: string[], more: JsonObject = {}): JsonObject => ({
  operations,
  apiGroups: [''],
  apiVersions: ['v1'],
  resources,
  ...more,
});

export const IGNORE = { failurePolicy: 'Ignore' };
export const IF_NEEDED = { reinvocationPolicy: 'IfNeeded' };
export const PODS = '/api/v1/namespaces/NS/pods';
export const named = (apiVersion: string, kind: string, name: string): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
});

export const mergePatch = (path: string, body: JsonObject): WriteStep => ({
  method: 'PATCH',
  path,
  body,
  type: 'application/merge-patch+json',
});

/** Creates a Pod, binds it to a Node and evicts it. */
export const POD_SUBRESOURCE_WRITES: readonly WriteStep[] = [
  {
    method: 'POST',
    path: PODS,
    body: { ...named('v1', 'Pod', 'p'), spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
  {
    method: 'POST',
    path: `${PODS}/p/binding`,
    body: { ...named('v1', 'Binding', 'p'), target: { kind: 'Node', name: 'n' } },
  },
  { method: 'POST', path: `${PODS}/p/eviction`, body: named('policy/v1', 'Eviction', 'p') },
];
