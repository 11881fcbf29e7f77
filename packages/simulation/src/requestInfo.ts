// Parses the Kubernetes verb and resource of a request from its method and path.

import type { HttpRequest } from '@lapse/kube/api/http';

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'other';

export interface RequestInfo {
  readonly method: string;
  readonly verb: Verb;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** Empty for the core group and for non-resource paths. */
  readonly group: string;
  readonly version: string;
  /** The plural name; empty for non-resource paths. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly body?: Uint8Array;
}

const RESOURCE = /^\/(?:api\/(?<core>[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))\/(?<rest>.+)$/;
/** Subresources of the namespace itself, below /api/v1/namespaces/x. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

export function parseRequestInfo(request: HttpRequest): RequestInfo {
  const cut = request.path.indexOf('?');
  const path = cut === -1 ? request.path : request.path.slice(0, cut);
  const query = cut === -1 ? '' : request.path.slice(cut + 1);
  const { groups } = RESOURCE.exec(path) ?? {};
  const base = { method: request.method, path, query };
  const body = request.body === undefined ? {} : { body: request.body };
  if (groups === undefined) return { ...base, ...body, verb: 'other', group: '', version: '', resource: '' };
  const target = targetOf(groups.rest!.split('/').map(decodeURIComponent));
  const verb = verbOf(request.method, target.name !== undefined, /(^|&)watch=(1|true)/.test(query));
  return {
    ...base,
    ...body,
    verb,
    group: groups.group ?? '',
    version: groups.version ?? groups.core!,
    ...target,
  };
}

type Target = Pick<RequestInfo, 'resource' | 'namespace' | 'name' | 'subresource'>;

function targetOf(parts: readonly string[]): Target {
  const scoped = parts[0] === 'namespaces' && parts.length > 2 && !OF_NAMESPACES.has(parts[2]!);
  const [resource = '', name, subresource] = scoped ? parts.slice(2) : parts;
  return {
    resource,
    ...(scoped ? { namespace: parts[1]! } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function verbOf(method: string, named: boolean, watch: boolean): Verb {
  switch (method) {
    case 'GET':
      return watch ? 'watch' : named ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return 'other';
  }
}

const READS = new Set<Verb>(['get', 'list', 'watch', 'other']);
/** Reviews, Events and Leases: writing them does not change the state that controllers decide on. */
const SIDE_RESOURCES = /reviews$|^events$|^leases$/;

/** Whether the request is meant to change the state of the cluster. */
export const isWrite = (request: RequestInfo): boolean =>
  !READS.has(request.verb) && !SIDE_RESOURCES.test(request.resource);

/** Selects the requests of a fault: `'DELETE'`, `'delete jobs'`, `'patch jobs/status'`, or a predicate. */
export type Matcher = string | ((request: RequestInfo) => boolean);

export function compileMatcher(matcher: Matcher): (request: RequestInfo) => boolean {
  if (typeof matcher === 'function') return matcher;
  const parts = matcher.trim().split(/\s+/);
  const [verb = '', resource, name] = parts;
  if (verb === '' || parts.length > 3)
    throw new Error(`${JSON.stringify(matcher)} is not "VERB", "VERB resource" or "VERB resource name"`);
  return (request) =>
    (verb === '*' || verb === request.method || verb.toLowerCase() === request.verb) &&
    (resource === undefined || resource === '*' || resource === targetText(request)) &&
    (name === undefined || name === request.name);
}

const targetText = ({ resource, subresource }: RequestInfo): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;
