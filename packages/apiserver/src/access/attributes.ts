// Authorization attributes: which user wants to use which verb on which resource or path.

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
  /** Empty for cluster scope. */
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
  // A Namespace named in the path is in its own namespace; one that is only selected is not.
  const namespace = path.namespace ?? (resource === 'namespaces' ? (path.name ?? '') : '');
  // Only the aggregated server knows what follows the subresource.
  const [subresource = ''] = (path.subresource ?? '').split('/');
  return { verb, group, resource, subresource, name, namespace };
}

/** The name in a field selector `metadata.name=…`: reading such a collection needs the right to that object only. */
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

/** From the spec of a review. */
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

/** 403 with the message of kube-apiserver. `reason` comes from the authorizer and may be empty. */
export function refused(user: UserInfo, attributes: Attributes, reason = ''): ApiError {
  const text = withoutMarkup(`User ${quoteGo(user.username)} cannot ${describe(attributes)}`);
  const why = reason === '' ? text : `${text}: ${reason}`;
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

/** Escapes HTML, so that a browser that shows the error finds no link in it. */
const withoutMarkup = (text: string): string => text.replace(/[&<>]/g, (sign) => MARKUP[sign]!);
