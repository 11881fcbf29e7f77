// Which kinds the server serves. Read once, kept, and read again when somebody asks for a kind that is not there (a CRD
// may have been created since), or was told that one that is there is not served (a version may have been retired), but
// not more often than every few seconds.

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
  /** Names after the slash: `status`, `scale`. */
  readonly subresources: readonly string[];
}

export interface KindQuery {
  readonly group: string;
  /** Unset: the version the server prefers. */
  readonly version?: string;
  /** `Job`. */
  readonly kind?: string;
  /** `jobs`. */
  readonly resource?: string;
}

export interface Discovery {
  /** The kind, or undefined when the server does not serve it. A miss looks once more before it says so. */
  find(query: KindQuery): Promise<ServedKind | undefined>;
  /** Everything, preferred versions of a group first. */
  all(): Promise<readonly ServedKind[]>;
  /**
   * Whether the server names the group but could not say what is in it: discovery of one of its versions is stale or
   * failed. A kind of such a group may exist although it is not found.
   */
  isUnavailable(group: string): Promise<boolean>;
  /** Forget what is known. */
  invalidate(): void;
  /** Something that is known turned out to be wrong: whoever asks next has it read again, unless that was just done. */
  doubt(): void;
}

/** A miss right after a look is believed, and so is a hit that is doubted. */
const MISS_INTERVAL: Millis = seconds(5);
const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

const objects = (json: Json | undefined): JsonObject[] => (Array.isArray(json) ? json.filter(isObject) : []);
const texts = (json: Json | undefined): string[] =>
  Array.isArray(json) ? json.filter((item) => typeof item === 'string') : [];
const text = (json: Json | undefined): string => (typeof json === 'string' ? json : '');

interface Discovered {
  readonly kinds: readonly ServedKind[];
  /** Groups of which a version is stale or failed. */
  readonly unavailable: readonly string[];
}

/** Aggregated discovery: every group, version and resource in one document. */
function readAggregated(document: JsonObject): Discovered {
  const found: ServedKind[] = [];
  const unavailable: string[] = [];
  for (const group of objects(document.items)) {
    const groupName = isObject(group.metadata) ? text(group.metadata.name) : '';
    for (const version of objects(group.versions)) {
      if (version.freshness === 'Stale') unavailable.push(groupName);
      for (const resource of objects(version.resources)) {
        const kind = isObject(resource.responseKind) ? text(resource.responseKind.kind) : '';
        if (kind === '') continue;
        found.push({
          group: groupName,
          version: text(version.version),
          kind,
          resource: text(resource.resource),
          namespaced: resource.scope === 'Namespaced',
          verbs: texts(resource.verbs),
          shortNames: texts(resource.shortNames),
          categories: texts(resource.categories),
          singular: text(resource.singularResource),
          subresources: objects(resource.subresources).map((sub) => text(sub.subresource)),
        });
      }
    }
  }
  return { kinds: found, unavailable };
}

/** The older form: one APIResourceList per group and version, subresources among the resources. */
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
        verbs: texts(resource.verbs),
        shortNames: texts(resource.shortNames),
        categories: texts(resource.categories),
        singular: text(resource.singularName),
        subresources: names
          .filter((other) => other.startsWith(`${name}/`))
          .map((other) => other.slice(name.length + 1)),
      };
    });
}

/** Group versions that an APIVersions or APIGroupList document names, preferred first. */
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
      // One aggregated API that is down must not hide all others.
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
  let doubted = false;

  const justRead = (): boolean => clock.elapsed() - readAt < MISS_INTERVAL;

  const read = (): Promise<readonly ServedKind[]> => {
    readAt = clock.elapsed();
    doubted = false;
    const reading = Promise.all([readRoot(caller, '/api'), readRoot(caller, '/apis')]).then((parts) => {
      unavailable.clear();
      for (const group of parts.flatMap((part) => part.unavailable)) unavailable.add(group);
      return parts.flatMap(({ kinds }) => kinds);
    });
    known = reading;
    // A failed look is not knowledge.
    reading.catch(() => {
      if (known === reading) known = undefined;
    });
    return reading;
  };

  /** What is known, read anew where it has to be. */
  const all = (): Promise<readonly ServedKind[]> =>
    known === undefined || (doubted && !justRead()) ? read() : known;

  return {
    async find(query) {
      const first = all();
      const hit = (await first).find((kind) => fits(kind, query));
      if (hit !== undefined) return hit;
      const lookedSince = known !== undefined && known !== first;
      if (!lookedSince && justRead()) return undefined;
      return (await (lookedSince ? known! : read())).find((kind) => fits(kind, query));
    },
    all,
    async isUnavailable(group) {
      await all();
      return unavailable.has(group);
    },
    invalidate() {
      known = undefined;
    },
    doubt() {
      doubted = true;
    },
  };
}
