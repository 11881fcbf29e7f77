// A request as people speak of it: which verb, of what. Read off the method and the path, nothing else.

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

export interface SeenRequest {
  readonly method: string;
  readonly verb: Verb;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** Empty for the core group, and for paths that are no resource. */
  readonly group: string;
  readonly version: string;
  /** The plural; empty for paths that are no resource. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly body?: Uint8Array;
}

const RESOURCE = /^\/(?:api\/(?<core>[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))\/(?<rest>.+)$/;
/** Below /api/v1/namespaces/x these belong to the namespace itself. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

export function seeRequest(request: HttpRequest): SeenRequest {
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

type Target = Pick<SeenRequest, 'resource' | 'namespace' | 'name' | 'subresource'>;

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
/** Resources that are questions, or that say what happened: writing them changes nothing anybody decides on. */
const ASIDE = /reviews$|^events$|^leases$/;

/** Whether it is meant to change the state of the cluster. */
export const isWrite = (request: SeenRequest): boolean =>
  !READS.has(request.verb) && !ASIDE.test(request.resource);

/** Which requests a fault is for: `'DELETE'`, `'delete jobs'`, `'patch jobs/status'`, or a question. */
export type Matcher = string | ((request: SeenRequest) => boolean);

export function compileMatcher(matcher: Matcher): (request: SeenRequest) => boolean {
  if (typeof matcher === 'function') return matcher;
  const words = matcher.trim().split(/\s+/);
  const [verb = '', resource, name] = words;
  if (verb === '' || words.length > 3)
    throw new Error(`${JSON.stringify(matcher)} is not "VERB", "VERB resource" or "VERB resource name"`);
  return (request) =>
    (verb === '*' || verb === request.method || verb.toLowerCase() === request.verb) &&
    (resource === undefined || resource === '*' || resource === targetText(request)) &&
    (name === undefined || name === request.name);
}

const targetText = ({ resource, subresource }: SeenRequest): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;
