// Reads objects from files, and remembers the file of each.

import { readFileSync } from 'node:fs';
import { parseTime } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { parseApiVersion } from '@lapse/kube/api/object';
import { readManifests } from '@lapse/simulation/userClient';
import { explained, isNamespaceName, UsageError } from '#manager/usage';

/** For messages, such as `team-a/job/report`. */
export function describeObject({ kind, metadata }: KubeObject): string {
  const { namespace, name = metadata.generateName ?? '?' } = metadata;
  return `${namespace === undefined ? '' : `${namespace}/`}${kind.toLowerCase()}/${name}`;
}

/** `-` is standard input. Throws a UsageError that names the file. */
export function readObjects(files: readonly string[]): KubeObject[] {
  return files.flatMap((file) => {
    const text = explained(file, () => readFileSync(file === '-' ? 0 : file, 'utf8'));
    const objects = explained(file, () => readManifests(text));
    for (const object of objects) explained(file, () => check(object));
    if (objects.length === 0) throw new UsageError(`${file}: contains no object`);
    return objects;
  });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function check(object: KubeObject): void {
  if (typeof object !== 'object' || object === null || typeof object.metadata !== 'object')
    throw new Error('an item is not a Kubernetes object: it needs apiVersion, kind and metadata');
  if (!isText(object.apiVersion) || parseApiVersion(object.apiVersion) === undefined)
    throw new Error(`${String(object.kind)}: apiVersion is missing or invalid`);
  if (!isText(object.kind)) throw new Error('an item has no kind');
  if (!isText(object.metadata.name)) throw new Error(`a ${object.kind} has no metadata.name`);
  for (const problem of problemsOf(object.metadata))
    throw new Error(`${object.kind} ${object.metadata.name}: metadata.${problem}`);
}

/** Checks metadata that the simulation uses before the API server validates it. */
function* problemsOf(metadata: KubeObject['metadata']): Generator<string> {
  const { namespace, creationTimestamp, deletionTimestamp } = metadata;
  if (namespace !== undefined && !(isText(namespace) && isNamespaceName(namespace)))
    yield `namespace ${JSON.stringify(namespace)} is not a valid name`;
  // kubectl writes null for unset timestamps.
  for (const [field, time] of Object.entries({ creationTimestamp, deletionTimestamp }))
    if ((time ?? undefined) !== undefined && !(isText(time) && isTime(time)))
      yield `${field} ${JSON.stringify(time)} is not a time`;
}

const isTime = (text: string): boolean => !Number.isNaN(parseTime(text));
