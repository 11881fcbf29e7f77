// Reads manifests like a cluster: an in-process API server stores the objects unchanged, with status and timestamps,
// and is then read like any other.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { createServer } from '@lapse/apiserver/server';
import { type Clock, realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { isObject, type Json } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { asObject, type KubeObject } from '@lapse/kube/api/object';
import { boundedYaml } from '@lapse/kube/api/yamlLimits';
import { type Client, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { parseAllDocuments } from 'yaml';
import { FAMILIES } from '#controllers/registry';
import { applyCrds, kindsOf } from '#manager/crds';
import { explained, reasonOf, UsageError } from '#manager/usage';
import { describeMistype } from './mistyped.ts';

export interface Manifests {
  readonly client: Client;
  /** Objects of kinds without a CRD, as messages. */
  readonly unknown: readonly string[];
  close(): Promise<void>;
}

/** An object and its location, for messages. */
interface Item {
  readonly from: string;
  readonly object: KubeObject;
}

/** `-` is standard input. For a directory: every .yaml, .yml and .json file in it. */
export async function openManifests(paths: readonly string[], clock: Clock = realClock): Promise<Manifests> {
  const items: Item[] = [];
  for (const path of paths) items.push(...(await readPath(path)));
  const server = await createServer({ clock, random: systemRandom });
  const client = createClient({ transport: inProcessTransport(server.handle), clock, random: systemRandom });
  await define(client, clock, items);
  const namespaced = new Set(
    (await client.discovery.all()).filter((kind) => kind.namespaced).map(({ kind }) => kind),
  );
  const unknown = new Set<string>();
  for (const item of items) {
    const { object } = item;
    if (isDefinition(object)) continue;
    const home = namespaced.has(object.kind) ? { namespace: 'default' } : {};
    const metadata = { generation: 1, ...home, ...object.metadata };
    const mistype = describeMistype(object);
    if (mistype !== undefined) refuse(item, mistype);
    if (!(await named(item, () => server.importObject({ ...object, metadata }))))
      unknown.add(
        `${object.apiVersion} ${object.kind}: the files contain no CustomResourceDefinition of this kind`,
      );
  }
  return { client, unknown: [...unknown], close: () => server.close() };
}

const isDefinition = ({ kind }: KubeObject): boolean => kind === CustomResourceDefinition.kind;

/** Creates the CRDs of Lapse, and those in the files. */
async function define(client: Client, clock: Clock, items: readonly Item[]): Promise<void> {
  const ours = kindsOf(FAMILIES);
  const known = new Set(ours.map(({ crd }) => crd.metadata.name));
  await applyCrds(client, clock, ours);
  const kind = CustomResourceDefinition as Kind;
  for (const item of items)
    if (isDefinition(item.object) && !known.has(item.object.metadata.name))
      await named(item, () => applyCrds(client, clock, [{ kind, crd: item.object }]));
}

/** An error of the API server is reported as an error in the file. */
async function named<T>(item: Item, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    return refuse(item, reasonOf(cause));
  }
}

function refuse({ from, object }: Item, problem: string): never {
  throw new UsageError(`${from}: ${object.kind} ${object.metadata.name}: ${problem}`);
}

async function readPath(path: string): Promise<Item[]> {
  if (path === '-') return parse('standard input', await textOf(process.stdin));
  return (
    explained(path, () => (statSync(path).isDirectory() ? readdirSync(path) : undefined))
      ?.filter((name) => /\.(ya?ml|json)$/.test(name))
      .sort()
      .flatMap((name) => readFile(join(path, name))) ?? readFile(path)
  );
}

const readFile = (path: string): Item[] =>
  parse(
    path,
    explained(path, () => readFileSync(path, 'utf8')),
  );

const parse = (from: string, text: string): Item[] =>
  explained(from, () => {
    const documents = parseAllDocuments(text);
    if ('empty' in documents) return [];
    return documents.flatMap((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      return objectsIn(boundedYaml(document).toJS() as Json).map((object) => ({ from, object }));
    });
  });

/** Lists are split. Empty documents and a LapseConfiguration are skipped. */
function objectsIn(json: Json): KubeObject[] {
  if (json === null || json === undefined) return [];
  if (!isObject(json)) throw new Error('not a Kubernetes object');
  const { apiVersion, kind, metadata, items } = json;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new Error('an object without apiVersion or kind');
  if (kind === 'LapseConfiguration') return [];
  if (kind.endsWith('List') && Array.isArray(items)) return items.flatMap(objectsIn);
  if (!isObject(metadata) || typeof metadata.name !== 'string')
    throw new Error(`${kind} without metadata.name`);
  return [asObject(json)];
}
