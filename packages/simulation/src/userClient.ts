// The actions of a user: applies manifests, patches, deletes and reads objects by name. Faults do not affect them. A
// rejected request throws.

import { isObject } from '@lapse/kube/api/json';
import { keyOf } from '@lapse/kube/api/kind';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { boundedYaml } from '@lapse/kube/api/yamlLimits';
import { type Client, objectOf } from '@lapse/kube/client/client';
import type { Propagation } from '@lapse/kube/client/delete';
import { parseAllDocuments } from 'yaml';
import { DEFAULT_NAMESPACE, type Found, findRef } from './refs.ts';

/** One object, several objects, or YAML text. */
export type Manifests = KubeObject | readonly KubeObject[] | string;

/** The API server does not serve the kind, or not yet: its CRD may have been created just before. */
export class KindNotServed extends Error {}

export interface UserClient {
  /** Creates or updates the objects, including their status. */
  apply(manifests: Manifests): Promise<void>;
  /** Throws if an object already exists. */
  create(manifests: Manifests): Promise<void>;
  /** A merge patch. */
  patch(ref: string, patch: object): Promise<void>;
  /** A merge patch of the status. */
  status(ref: string, status: object): Promise<void>;
  /** Returns false if the object does not exist. */
  delete(ref: string, options?: { propagation?: Propagation }): Promise<boolean>;
  get<T extends KubeObject = KubeObject>(ref: string): Promise<T | undefined>;
}

export function createUserClient(client: Client): UserClient {
  const find = (ref: string): Promise<Found> => findRef(client.discovery, ref);

  async function homeOf(object: KubeObject): Promise<{ found: Found; placed: KubeObject }> {
    const { group, version } = parseApiVersion(object.apiVersion) ?? { group: '', version: '' };
    const kind = await served(client, { group, version, kind: object.kind });
    const { namespace: _, ...rest } = object.metadata;
    const metadata = kind.namespaced
      ? { ...rest, namespace: object.metadata.namespace ?? DEFAULT_NAMESPACE }
      : rest;
    const placed = { ...object, metadata };
    return { found: { kind, key: keyOf(placed) }, placed };
  }

  /** Writes the status separately, because the server ignores it in writes of the object. */
  async function writeStatus({ kind, key }: Found, { status }: KubeObject): Promise<void> {
    if (!isObject(status) || Object.keys(status).length === 0) return;
    objectOf(await client.patch(kind, key, { type: 'merge', patch: { status } }, { subresource: 'status' }));
  }

  return {
    async apply(manifests) {
      for (const object of readManifests(manifests)) {
        const { found, placed } = await homeOf(object);
        const { status: _, ...stated } = placed;
        const { kind, key } = found;
        if ((await client.get(kind, key)) === undefined)
          objectOf(await client.create(kind, stated as KubeObject));
        else objectOf(await client.patch(kind, key, { type: 'merge', patch: stated }));
        await writeStatus(found, placed);
      }
    },
    async create(manifests) {
      for (const object of readManifests(manifests)) {
        const { found, placed } = await homeOf(object);
        objectOf(await client.create(found.kind, placed));
        await writeStatus(found, placed);
      }
    },
    async patch(ref, patch) {
      const { kind, key } = await find(ref);
      objectOf(await client.patch(kind, key, { type: 'merge', patch }));
    },
    async status(ref, status) {
      const { kind, key } = await find(ref);
      objectOf(
        await client.patch(kind, key, { type: 'merge', patch: { status } }, { subresource: 'status' }),
      );
    },
    async delete(ref, options = {}) {
      const { kind, key } = await find(ref);
      const answer = await client.delete(kind, key, options);
      if (answer.kind === 'conflict') throw answer.error;
      return answer.kind !== 'gone';
    },
    async get<T extends KubeObject>(ref: string) {
      const { kind, key } = await find(ref);
      return (await client.get(kind, key)) as T | undefined;
    },
  };
}

async function served(client: Client, query: { group: string; version: string; kind: string }) {
  const hit = await client.discovery.find(query);
  if (hit !== undefined) return hit;
  client.discovery.invalidate();
  const later = await client.discovery.find(query);
  if (later === undefined)
    throw new KindNotServed(`${query.group}/${query.version} ${query.kind} is not served`);
  return later;
}

export function readManifests(manifests: Manifests): KubeObject[] {
  if (typeof manifests !== 'string')
    return Array.isArray(manifests) ? [...manifests] : [manifests as KubeObject];
  return parseAllDocuments(manifests).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return objectsIn(boundedYaml(document).toJS());
  });
}

/** The object of a YAML document, the items of a List, or nothing for an empty document. */
function objectsIn(json: unknown): KubeObject[] {
  if (json === null || json === undefined) return [];
  if (isObject(json) && json.kind === 'List' && Array.isArray(json.items))
    return json.items as unknown as KubeObject[];
  if (!isObject(json) || typeof json.kind !== 'string' || !isObject(json.metadata))
    throw new Error('a document is not a Kubernetes object: it needs apiVersion, kind and metadata');
  return [json as unknown as KubeObject];
}
