// What authorisation is asked: who wants to do what to which resource, or to which path.

import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { checkPathSegment } from '@lapse/kube/api/names';
import { parseFieldSelector, SelectorError } from '@lapse/kube/api/selectors';
import { ApiError } from '@lapse/kube/api/status';
import { type Path, unescapePath } from '../http/path.ts';
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
  if (path.kind !== 'resource') return { verb, path: unescapePath(pathname) ?? pathname };
  const { group, resource } = path;
  const isRead = !path.watch && (verb === 'list' || verb === 'watch');
  const name = path.name ?? (isRead ? selectedName(fieldSelector ?? '') : '');
  // A namespace that the path names is in itself; one that is only selected is not.
  const namespace = path.namespace ?? (resource === 'namespaces' ? (path.name ?? '') : '');
  // What follows the subresource is a matter of whoever is behind it.
  const [subresource = ''] = (path.subresource ?? '').split('/');
  return { verb, group, resource, subresource, name, namespace };
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
  const said = withoutMarkup(`User ${quoteGo(user.username)} cannot ${describe(attributes)}`);
  const why = reason === '' ? said : `${said}: ${reason}`;
  if (isPath(attributes)) return new ApiError(403, 'Forbidden', `forbidden: ${why}`, {});
  const { group, resource, name } = attributes;
  const what = `${group ? `${resource}.${group}` : resource}${name ? ` ${quoteGo(name)}` : ''}`;
  return new ApiError(403, 'Forbidden', `${what} is forbidden: ${why}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    kind: resource,
  });
}

function describe(attributes: Attributes): string {
  if (isPath(attributes)) return `${attributes.verb} path ${quoteGo(attributes.path)}`;
  const { verb, group, resource, subresource, namespace } = attributes;
  const target = quoteGo(subresource ? `${resource}/${subresource}` : resource);
  const scope = namespace ? `in the namespace ${quoteGo(namespace)}` : 'at the cluster scope';
  return `${verb} resource ${target} in API group ${quoteGo(group)} ${scope}`;
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A browser that is shown the refusal finds nothing in it to follow. */
const withoutMarkup = (said: string): string => said.replace(/[&<>]/g, (sign) => MARKUP[sign]!);
