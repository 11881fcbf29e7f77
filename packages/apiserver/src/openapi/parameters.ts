// Query and path parameters of operations.

import type { JsonObject } from '@lapse/kube/api/json';

const BOOLEANS = new Set([
  'allowWatchBookmarks',
  'force',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'sendInitialEvents',
  'watch',
]);
const INTEGERS = new Set(['gracePeriodSeconds', 'limit', 'timeoutSeconds']);

export const LIST = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
];
export const WRITE = ['dryRun', 'fieldManager', 'fieldValidation'];
export const PATCH = [...WRITE, 'force'];
export const DELETE = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];
export const DELETE_COLLECTION = [
  ...DELETE,
  ...LIST.filter((name) => name !== 'watch' && name !== 'allowWatchBookmarks'),
];

/** Names in braces in a path (`{namespace}`). */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]!);

export function parameter(name: string, isInPath: boolean): JsonObject {
  const type = BOOLEANS.has(name) ? 'boolean' : INTEGERS.has(name) ? 'integer' : 'string';
  return {
    name,
    in: isInPath ? 'path' : 'query',
    ...(isInPath ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}
