// Parser for the fixed grammar of Kubernetes API paths.

export interface ResourcePath {
  readonly kind: 'resource';
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The deprecated `/api/v1/watch/…` form. */
  readonly watch: boolean;
}

export type Path =
  | ResourcePath
  | {
      readonly kind: 'discovery';
      readonly level: 'core' | 'groups' | 'group' | 'version';
      readonly group: string;
      readonly version: string;
    }
  | { readonly kind: 'other'; readonly path: string }
  /** A path with an invalid percent escape. */
  | { readonly kind: 'bad' };

export function parsePath(escaped: string): Path {
  const pathname = unescapePath(escaped);
  if (pathname === undefined) return { kind: 'bad' };
  if (pathname.includes('//')) return { kind: 'other', path: pathname };
  const segments = pathname.split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  const [root, ...rest] = segments;
  if (root === 'api') return parseGroup('', rest);
  if (root === 'apis') {
    if (rest.length === 0) return { kind: 'discovery', level: 'groups', group: '', version: '' };
    return parseGroup(rest[0]!, rest.slice(1));
  }
  return { kind: 'other', path: pathname };
}

/** Decodes escapes before the path is split: an escaped slash is a slash. */
export function unescapePath(escaped: string): string | undefined {
  if (!escaped.includes('%')) return escaped;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}

function parseGroup(group: string, rest: string[]): Path {
  if (rest.length === 0)
    return { kind: 'discovery', level: group === '' ? 'core' : 'group', group, version: '' };
  const [version, ...parts] = rest;
  if (parts.length === 0) return { kind: 'discovery', level: 'version', group, version: version! };
  const watch = parts[0] === 'watch' && parts.length > 1;
  return parseResource(group, version!, watch ? parts.slice(1) : parts, watch);
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

function parseResource(group: string, version: string, parts: string[], watch: boolean): Path {
  let namespace: string | undefined;
  let rest = parts;
  if (parts[0] === 'namespaces' && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)) {
    namespace = parts[1];
    rest = parts.slice(2);
  }
  const [resource, name, ...subresource] = rest;
  return {
    kind: 'resource',
    group,
    version,
    namespace,
    resource: resource!,
    name,
    subresource: subresource.length === 0 ? undefined : subresource.join('/'),
    watch,
  };
}
