// Aggregated discovery: all groups in one document, with an ETag so that clients fetch it once per change.

import { createHash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { orderedGroups } from '../aggregation/priorities.ts';
import type { Core } from '../context.ts';
import { encodingOf, parseAccept } from '../http/negotiate.ts';
import { yamlText } from '../http/respond.ts';
import type { Registry } from '../resources/registry.ts';
import type { Resource, SubresourceInfo } from '../resources/resource.ts';

const TARGET = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The encoding for aggregated discovery; undefined when the client does not accept it. */
export function aggregatedEncoding(accept: string | undefined): 'json' | 'yaml' | undefined {
  for (const { type, params } of parseAccept(accept ?? '')) {
    const asked = `g=${params.get('g')};v=${params.get('v')};as=${params.get('as')}`;
    const encoding = encodingOf(type);
    if (asked === TARGET && encoding) return encoding;
  }
  return undefined;
}

interface Document {
  readonly generation: string;
  readonly json: string;
  readonly etag: string;
}

// Rebuilt only when the served resources change.
type Parts = Pick<Core, 'registry' | 'aggregator'>;

const cache = new WeakMap<Registry, Partial<Record<'core' | 'groups', Document>>>();

function documentOf(parts: Parts, which: 'core' | 'groups'): Document {
  const { registry, aggregator } = parts;
  const documents = cache.get(registry) ?? {};
  cache.set(registry, documents);
  const known = documents[which];
  const generation = `${registry.generation}/${aggregator.generation}`;
  if (known?.generation === generation) return known;
  const groups =
    which === 'core'
      ? registry.groups().filter((g) => g.group === '')
      : orderedGroups(registry, aggregator.registrations());
  const json = writeJson({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.flatMap(({ group, versions }) => groupItem(parts, group, versions)),
  });
  const etag = `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`;
  const document = { generation, json, etag };
  documents[which] = document;
  return document;
}

export function aggregated(
  parts: Parts,
  which: 'core' | 'groups',
  encoding: 'json' | 'yaml',
  request: HttpRequest,
): HttpResponse {
  const { json, etag } = documentOf(parts, which);
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: new Uint8Array() };
  const body = Buffer.from(encoding === 'json' ? json : yamlText(JSON.parse(json) as object));
  return { status: 200, headers: { ...headers, 'content-type': `application/${encoding};${TARGET}` }, body };
}

/** Omitted while the resources of an aggregated API are unknown. */
function groupItem(parts: Parts, group: string, versions: readonly string[]): object[] {
  const known = versions.flatMap((version) => versionItem(parts, group, version) ?? []);
  return known.length === 0 ? [] : [{ metadata: group === '' ? {} : { name: group }, versions: known }];
}

function versionItem({ registry, aggregator }: Parts, group: string, version: string): object | undefined {
  if (aggregator.isRemote(group, version)) return aggregator.entryOf(group, version);
  const resources = (registry.version(group, version) ?? []).map(resourceItem);
  return { version, resources, freshness: 'Current' };
}

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

/** Empty group and version mean those of the enclosing entry; only custom resources repeat them. */
function responseKind(r: Resource, of: { kind: string; group?: string; version?: string }): object {
  if (of === r || of.group === undefined) {
    return r.custom
      ? { group: r.group, version: r.version, kind: of.kind }
      : { group: '', version: '', kind: of.kind };
  }
  return { group: of.group, version: of.version, kind: of.kind };
}
