// Parses the verb and the resource of an API request from its method, path and query.

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ResourceRequest {
  readonly kind: 'resource';
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export type ParsedRequest = ResourceRequest | { readonly kind: 'path'; readonly path: string };

const NAMED: Readonly<Record<string, Verb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Returns undefined if the path cannot be decoded or the method is unknown. */
export function parseRequest(method: string, target: string): ParsedRequest | undefined {
  const [path = '', query = ''] = target.split('?', 2);
  let parts: string[];
  try {
    parts = path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
  const [api, group = '', version = '', ...rest] = parts;
  if (api !== 'apis' || rest.length === 0 || rest.includes('')) return { kind: 'path', path };
  const [namespace, tail] =
    rest[0] === 'namespaces' && rest.length > 2 ? [rest[1]!, rest.slice(2)] : [undefined, rest];
  const [resource = '', name, ...sub] = tail;
  const verb = verbOf(method, name !== undefined, new URLSearchParams(query));
  if (verb === undefined) return undefined;
  return {
    kind: 'resource',
    verb,
    group,
    version,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(sub.length === 0 ? {} : { subresource: sub.join('/') }),
  };
}

function verbOf(method: string, named: boolean, query: URLSearchParams): Verb | undefined {
  const verb = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  if (named || verb === undefined) return verb;
  if (verb === 'delete') return 'deletecollection';
  if (verb !== 'get') return verb;
  const watch = query.get('watch');
  return watch === 'true' || watch === '1' ? 'watch' : 'list';
}
