// Manifests as if they were a cluster: an API server in this process is given the objects as they are, with their status
// and their times, and is then read like any other.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import { isObject, type Json } from '#api/json';
import type { Kind } from '#api/kind';
import { CustomResourceDefinition } from '#api/kinds/builtin';
import { asObject, type KubeObject } from '#api/object';
import { createServer } from '#apiserver/server';
import { type Clock, realClock } from '#base/clock';
import { systemRandom } from '#base/random';
import { type Client, createClient } from '#client/client';
import { inProcessTransport } from '#client/inProcess';
import { FAMILIES } from '#controllers/registry';
import { applyCrds, kindsOf } from '../crds.ts';
import { explained, reasonOf, UsageError } from '../usage.ts';

export interface Manifests {
  readonly client: Client;
  /** Objects of kinds that nobody defines, in words. */
  readonly unknown: readonly string[];
  close(): Promise<void>;
}

/** `-` is the standard input; of a directory every .yaml, .yml and .json in it. */
export async function openManifests(paths: readonly string[], clock: Clock = realClock): Promise<Manifests> {
  const objects: KubeObject[] = [];
  for (const path of paths) objects.push(...(await readPath(path)));
  const server = await createServer({ clock, random: systemRandom });
  const client = createClient({ transport: inProcessTransport(server.handle), clock, random: systemRandom });
  const ours = kindsOf(FAMILIES);
  const known = new Set(ours.map(({ crd }) => crd.metadata.name));
  const theirs = objects
    .filter(({ kind, metadata }) => kind === CustomResourceDefinition.kind && !known.has(metadata.name))
    .map((crd) => ({ kind: CustomResourceDefinition as Kind, crd }));
  await applyCrds(client, clock, [...ours, ...theirs]);
  const namespaced = new Set(
    (await client.discovery.all()).filter((kind) => kind.namespaced).map(({ kind }) => kind),
  );
  const unknown = new Set<string>();
  for (const object of objects) {
    if (object.kind === CustomResourceDefinition.kind) continue;
    const home = namespaced.has(object.kind) ? { namespace: 'default' } : {};
    const metadata = { generation: 1, ...home, ...object.metadata };
    if (!(await server.importObject({ ...object, metadata })))
      unknown.add(`${object.apiVersion} ${object.kind}: no definition of this kind is among the files`);
  }
  return { client, unknown: [...unknown], close: () => server.close() };
}

async function readPath(path: string): Promise<KubeObject[]> {
  if (path === '-') return parse('the standard input', await textOf(process.stdin));
  return explained(path, () => statSync(path)).isDirectory()
    ? readdirSync(path)
        .filter((name) => /\.(ya?ml|json)$/.test(name))
        .sort()
        .flatMap((name) => readFile(join(path, name)))
    : readFile(path);
}

const readFile = (path: string): KubeObject[] =>
  parse(
    path,
    explained(path, () => readFileSync(path, 'utf8')),
  );

function parse(name: string, text: string): KubeObject[] {
  const documents = parseAllDocuments(text);
  if ('empty' in documents) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new UsageError(`${name}: ${reasonOf(error)}`);
    return objectsIn(name, document.toJS() as Json);
  });
}

/** Lists are taken apart; empty documents and our own configuration are nobody's objects. */
function objectsIn(name: string, json: Json): KubeObject[] {
  if (json === null || json === undefined) return [];
  if (!isObject(json)) throw new UsageError(`${name}: not an object of Kubernetes`);
  const { apiVersion, kind, metadata, items } = json;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new UsageError(`${name}: an object without apiVersion or kind`);
  if (kind === 'LapseConfiguration') return [];
  if (kind.endsWith('List') && Array.isArray(items)) return items.flatMap((item) => objectsIn(name, item));
  if (!isObject(metadata) || typeof metadata.name !== 'string')
    throw new UsageError(`${name}: ${kind} without metadata.name`);
  return [asObject(json)];
}
