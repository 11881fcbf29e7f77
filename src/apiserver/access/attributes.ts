// What authorisation is asked: who wants to do what to which resource, or to which path.

import type { JsonObject } from '#api/json';
import { checkPathSegment } from '#api/names';
import { parseFieldSelector, SelectorError } from '#api/selectors';
import { ApiError } from '#api/status';
import type { Path } from '../path.ts';
import type { UserInfo } from '../resources/resource.ts';
import { text } from '../strategies/values.ts';

export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Empty at the scope of the cluster. */
  readonly namespace: string;
}

export interface PathAttributes {
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

export const isPath = (attributes: Attributes): attributes is PathAttributes => 'path' in attributes;

export function attributesOf(
  path: Path,
  pathname: string,
  { verb, fieldSelector }: { readonly verb: string; readonly fieldSelector: string | null },
): Attributes {
  if (path.kind !== 'resource') return { verb, path: pathname };
  const { group, resource, subresource = '', namespace = '' } = path;
  const isRead = !path.watch && (verb === 'list' || verb === 'watch');
  const name = path.name ?? (isRead ? selectedName(fieldSelector ?? '') : '');
  // A namespace is in itself.
  const inside = group === '' && resource === 'namespaces' && name !== '' ? name : namespace;
  return { verb, group, resource, subresource, name, namespace: inside };
}

/** A collection of which one object is selected by its name is read with the right to that object. */
function selectedName(fieldSelector: string): string {
  try {
    const terms = parseFieldSelector(fieldSelector);
    const name = terms.find(({ field, negated }) => field === 'metadata.name' && !negated)?.value ?? '';
    return checkPathSegment(name).length === 0 ? name : '';
  } catch (cause) {
    if (cause instanceof SelectorError) return '';
    throw cause;
  }
}

/** As a review asks. */
export const resourceAttributesOf = (from: JsonObject): ResourceAttributes => ({
  verb: text(from, 'verb'),
  group: text(from, 'group'),
  resource: text(from, 'resource'),
  subresource: text(from, 'subresource'),
  name: text(from, 'name'),
  namespace: text(from, 'namespace'),
});

export const pathAttributesOf = (from: JsonObject): PathAttributes => ({
  verb: text(from, 'verb'),
  path: text(from, 'path'),
});

/** 403, in the words of the real server. `reason` is the authoriser's, if it has one. */
export function refused(user: UserInfo, attributes: Attributes, reason = ''): ApiError {
  const who = `User "${user.username}" cannot`;
  const why = reason === '' ? '' : `: ${reason}`;
  if (isPath(attributes)) {
    const { verb, path } = attributes;
    return new ApiError(403, 'Forbidden', `forbidden: ${who} ${verb} path "${path}"${why}`, {});
  }
  const { group, resource, subresource, name, namespace, verb } = attributes;
  const target = subresource ? `${resource}/${subresource}` : resource;
  const scope = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  const what = `${group ? `${resource}.${group}` : resource}${name ? ` "${name}"` : ''}`;
  const said = `${who} ${verb} resource "${target}" in API group "${group}" ${scope}${why}`;
  return new ApiError(403, 'Forbidden', `${what} is forbidden: ${said}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    kind: resource,
  });
}
