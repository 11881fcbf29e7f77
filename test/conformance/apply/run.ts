// Runs a history on a server and records the answers, without values that always differ.

import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type Ask, asker } from '../model/ask.ts';
import type { Target } from '../replay/types.ts';
import type { Subject, Write } from './histories.ts';
import { definition, GROUP } from './subjects.ts';

export interface Seen {
  readonly status: number;
  readonly body: Json;
}

export async function runHistory(
  ask: Ask,
  subject: Subject,
  namespace: string,
  writes: readonly Write[],
): Promise<Seen[]> {
  const collection = subject.path.replace('NS', namespace);
  const seen: Seen[] = [];
  for (const { method, query, body, type, subresource } of writes) {
    const path = `${collection}/x${subresource === undefined ? '' : `/${subresource}`}?${query}`;
    const sent = method === 'PUT' ? replacement((await ask('GET', `${collection}/x`)).body, body) : body;
    const answer = await ask(method, path, sent, type);
    const tidy = tidied(answer.body as Json, namespace);
    // Several causes are listed in the message in the random order of a Go map.
    if (answer.status === 422) delete (tidy as JsonObject)['message'];
    seen.push({ status: answer.status, body: tidy });
  }
  return seen;
}

/** The object that was read, with other fields; without a version, so that it is always the latest. */
function replacement(read: Json | undefined, fields: JsonObject): JsonObject {
  const object = isObject(read) ? (clone(read) as JsonObject) : {};
  const { resourceVersion: _, ...metadata } = isObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, metadata, ...fields };
}

const CHANGING = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastUpdateTime']);

const SHUFFLED = new Set(['managedFields', 'causes']);

function tidied(value: Json, namespace: string): Json {
  if (typeof value === 'string') return value.replaceAll(namespace, 'NS');
  if (Array.isArray(value)) return value.map((item) => tidied(item, namespace));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const name of Object.keys(value).sort()) {
    const entry = value[name]!;
    if (SHUFFLED.has(name) && Array.isArray(entry)) out[name] = sortedEntries(entry, namespace);
    else out[name] = CHANGING.has(name) ? '…' : tidied(entry, namespace);
  }
  return out;
}

/** Managers are ordered by the second of their write, conflicts between several of them in any order. */
const sortedEntries = (entries: Json[], namespace: string): Json[] =>
  entries
    .map((entry) => tidied(entry, namespace))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

export async function prepare(target: Target): Promise<Ask> {
  const ask = asker(target);
  await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  for (let i = 0; i < 200; i++) {
    const { status } = await ask('GET', `/apis/${GROUP}/v1/gadgets`);
    if (status === 200) return ask;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the custom resource is not served');
}

export const createNamespace = (ask: Ask, name: string) =>
  ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
