// Aggregated discovery: everything in one document, with an ETag so that clients fetch it once per change.

import { createHash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '#api/http';
import { writeJson } from '#api/jsonWrite';
import { encodingOf, parseAccept } from '../negotiate.ts';
import type { Registry } from '../registry.ts';
import type { Resource, SubresourceInfo } from '../resources/resource.ts';
import { yamlText } from '../respond.ts';
import { orderedGroups } from './groups.ts';

const TARGET = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The encoding in which the aggregated form is wanted; undefined when the client does not ask for it. */
export function aggregatedEncoding(accept: string | undefined): 'json' | 'yaml' | undefined {
  for (const { type, params } of parseAccept(accept ?? '')) {
    const asked = `g=${params.get('g')};v=${params.get('v')};as=${params.get('as')}`;
    const encoding = encodingOf(type);
    if (asked === TARGET && encoding) return encoding;
  }
  return undefined;
}

interface Document {
  readonly generation: number;
  readonly json: string;
  readonly etag: string;
}

// Built again only when a resource came or went.
const cache = new WeakMap<Registry, Partial<Record<'core' | 'groups', Document>>>();

function documentOf(registry: Registry, which: 'core' | 'groups'): Document {
  const documents = cache.get(registry) ?? {};
  cache.set(registry, documents);
  const known = documents[which];
  if (known?.generation === registry.generation) return known;
  const groups = which === 'core' ? registry.groups().filter((g) => g.group === '') : orderedGroups(registry);
  const json = writeJson({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ group, versions }) => groupItem(registry, group, versions)),
  });
  const etag = `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`;
  const document = { generation: registry.generation, json, etag };
  documents[which] = document;
  return document;
}

export function aggregated(
  registry: Registry,
  which: 'core' | 'groups',
  encoding: 'json' | 'yaml',
  request: HttpRequest,
): HttpResponse {
  const { json, etag } = documentOf(registry, which);
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: new Uint8Array() };
  const body = Buffer.from(encoding === 'json' ? json : yamlText(JSON.parse(json) as object));
  return { status: 200, headers: { ...headers, 'content-type': `application/${encoding};${TARGET}` }, body };
}

const groupItem = (registry: Registry, group: string, versions: readonly string[]): object => ({
  metadata: group === '' ? {} : { name: group },
  versions: versions.map((version) => ({
    version,
    resources: (registry.version(group, version) ?? []).map(resourceItem),
    freshness: 'Current',
  })),
});

function resourceItem(r: Resource): object {
  return {
    resource: r.plural,
    responseKind: responseKind(r, r),
    scope: r.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: r.singular,
    verbs: r.verbs,
    ...(r.shortNames.length > 0 ? { shortNames: r.shortNames } : {}),
    ...(r.categories.length > 0 ? { categories: r.categories } : {}),
    ...(r.subresources.length > 0 ? { subresources: r.subresources.map((s) => subresourceItem(r, s)) } : {}),
  };
}

const subresourceItem = (r: Resource, s: SubresourceInfo): object => ({
  subresource: s.name,
  responseKind: responseKind(r, s),
  verbs: s.verbs,
});

/** Empty group and version stand for those of the document's place; only custom resources spell them out. */
function responseKind(r: Resource, of: { kind: string; group?: string; version?: string }): object {
  if (of === r || of.group === undefined) {
    return r.custom
      ? { group: r.group, version: r.version, kind: of.kind }
      : { group: '', version: '', kind: of.kind };
  }
  return { group: of.group, version: of.version, kind: of.kind };
}
