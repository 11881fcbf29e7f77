// Caches which kinds the server serves. The cache is refreshed when a caller asks for an unknown kind (a CRD may have
// been created), or when a request found that a cached kind is not served (a version may have been removed), but at
// most every few seconds.

import type { Clock } from '@lapse/base/clock';
import { type Millis, seconds } from '@lapse/base/instant';
import { isObject, type Json, type JsonObject } from '#api/json';
import type { Kind } from '#api/kind';
import { parseApiVersion } from '#api/object';
import { ApiError } from '#api/status';
import { type Caller, send } from './call.ts';

export interface ServedKind extends Kind {
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly singular: string;
  /** Subresource names: `status`, `scale`. */
  readonly subresources: readonly string[];
}

export interface KindQuery {
  readonly group: string;
  /** Default: the version the server prefers. */
  readonly version?: string;
  /** `Job`. */
  readonly kind?: string;
  /** `jobs`. */
  readonly resource?: string;
}

export interface Discovery {
  /** The kind, or undefined if the server does not serve it. An unknown kind triggers one refresh first. */
  find(query: KindQuery): Promise<ServedKind | undefined>;
  /** All kinds; the preferred version of each group comes first. */
  all(): Promise<readonly ServedKind[]>;
  /**
   * Whether the server lists the group but not all of its contents: discovery of one of its versions is stale or
   * failed. A kind of such a group may exist although it is not found.
   */
  isUnavailable(group: string): Promise<boolean>;
  /** Drops the cache. */
  invalidate(): void;
  /**
   * Reports that cached data turned out to be wrong. The next query refreshes the cache, unless it was just refreshed.
   */
  markStale(): void;
}

/** Minimum interval between refreshes after misses and stale results. */
const MISS_INTERVAL: Millis = seconds(5);
const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

const objects = (json: Json | undefined): JsonObject[] => (Array.isArray(json) ? json.filter(isObject) : []);
const texts = (json: Json | undefined): string[] =>
  Array.isArray(json) ? json.filter((item) => typeof item === 'string') : [];
const text = (json: Json | undefined): string => (typeof json === 'string' ? json : '');

interface Discovered {
  readonly kinds: readonly ServedKind[];
  /** Groups with a stale or failed version. */
  readonly unavailable: readonly string[];
}

/** The kind is empty if the resource has only subresources. */
const aggregatedKind = (group: string, version: string, resource: JsonObject): ServedKind => ({
  group,
  version,
  kind: isObject(resource.responseKind) ? text(resource.responseKind.kind) : '',
  resource: text(resource.resource),
  namespaced: resource.scope === 'Namespaced',
  singular: text(resource.singularResource),
  subresources: objects(resource.subresources).map((sub) => text(sub.subresource)),
  ...listedNames(resource),
});

const listedNames = (resource: JsonObject) => ({
  verbs: texts(resource.verbs),
  shortNames: texts(resource.shortNames),
  categories: texts(resource.categories),
});

/** Aggregated discovery: every group, version and resource in one document. */
function readAggregated(document: JsonObject): Discovered {
  const found: ServedKind[] = [];
  const unavailable: string[] = [];
  for (const group of objects(document.items)) {
    const groupName = isObject(group.metadata) ? text(group.metadata.name) : '';
    for (const version of objects(group.versions)) {
      if (version.freshness === 'Stale') unavailable.push(groupName);
      for (const resource of objects(version.resources)) {
        const kind = aggregatedKind(groupName, text(version.version), resource);
        if (kind.kind !== '') found.push(kind);
      }
    }
  }
  return { kinds: found, unavailable };
}

/** Unaggregated discovery: one APIResourceList per group version, with subresources among the resources. */
function readResourceList(document: JsonObject, groupVersion: string): ServedKind[] {
  const gv = parseApiVersion(groupVersion);
  if (gv === undefined) return [];
  const resources = objects(document.resources);
  const names = resources.map((resource) => text(resource.name));
  return resources
    .filter((resource) => text(resource.name) !== '' && !text(resource.name).includes('/'))
    .map((resource) => {
      const name = text(resource.name);
      return {
        ...gv,
        kind: text(resource.kind),
        resource: name,
        namespaced: resource.namespaced === true,
        singular: text(resource.singularName),
        ...listedNames(resource),
        subresources: names
          .filter((other) => other.startsWith(`${name}/`))
          .map((other) => other.slice(name.length + 1)),
      };
    });
}

/** The group versions in an APIVersions or APIGroupList document, preferred first. */
function readGroupVersions(document: JsonObject): string[] {
  if (document.kind === 'APIVersions') return texts(document.versions);
  return objects(document.groups).flatMap((group) => {
    const preferred = isObject(group.preferredVersion) ? text(group.preferredVersion.groupVersion) : '';
    const all = objects(group.versions).map((version) => text(version.groupVersion));
    return [...new Set([preferred, ...all])].filter((name) => name !== '');
  });
}

async function readLegacy(caller: Caller, document: JsonObject): Promise<Discovered> {
  const unavailable: string[] = [];
  const reads = readGroupVersions(document).map(async (groupVersion) => {
    const path = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
    try {
      const { json } = await send(caller, { method: 'GET', path });
      return readResourceList(json, groupVersion);
    } catch (error) {
      // An unavailable aggregated API must not hide all others.
      if (!(error instanceof ApiError)) throw error;
      unavailable.push(parseApiVersion(groupVersion)?.group ?? '');
      return [];
    }
  });
  return { kinds: (await Promise.all(reads)).flat(), unavailable };
}

async function readRoot(caller: Caller, path: string): Promise<Discovered> {
  const { json } = await send(caller, { method: 'GET', path, accept: AGGREGATED });
  return json.kind === 'APIGroupDiscoveryList' ? readAggregated(json) : readLegacy(caller, json);
}

const fits = (kind: ServedKind, query: KindQuery): boolean =>
  kind.group === query.group &&
  (query.version === undefined || kind.version === query.version) &&
  (query.kind === undefined || kind.kind === query.kind) &&
  (query.resource === undefined || kind.resource === query.resource);

export function createDiscovery(caller: Caller, clock: Clock): Discovery {
  let known: Promise<readonly ServedKind[]> | undefined;
  const unavailable = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;
  let outdated = false;

  const justRead = (): boolean => clock.elapsed() - readAt < MISS_INTERVAL;

  const read = (): Promise<readonly ServedKind[]> => {
    readAt = clock.elapsed();
    outdated = false;
    const reading = Promise.all([readRoot(caller, '/api'), readRoot(caller, '/apis')]).then((parts) => {
      unavailable.clear();
      for (const group of parts.flatMap((part) => part.unavailable)) unavailable.add(group);
      return parts.flatMap(({ kinds }) => kinds);
    });
    known = reading;
    // Do not cache a failed read.
    reading.catch(() => {
      if (known === reading) known = undefined;
    });
    return reading;
  };

  /** The cached kinds, refreshed if necessary. */
  const all = (): Promise<readonly ServedKind[]> =>
    known === undefined || (outdated && !justRead()) ? read() : known;

  return {
    async find(query) {
      const first = all();
      const hit = (await first).find((kind) => fits(kind, query));
      if (hit !== undefined) return hit;
      const readSince = known !== undefined && known !== first;
      if (!readSince && justRead()) return undefined;
      return (await (readSince ? known! : read())).find((kind) => fits(kind, query));
    },
    all,
    async isUnavailable(group) {
      await all();
      return unavailable.has(group);
    },
    invalidate() {
      known = undefined;
    },
    markStale() {
      outdated = true;
    },
  };
}
