// url(): URLs and their parts.

import { type CallCost, fn, fnAt, type Library, member, overload, working } from '../../declarations.ts';
import { sizeOf, traversal } from '../../sizes.ts';
import { BOOL, listOf, mapOf, STRING, structOf } from '../../types.ts';
import { fail, Opaque, type Value } from '../../values.ts';
import { type GoUrl, hostname, parseRequestUri, parseUrl, port, query } from './goUrl.ts';

const URL_TYPE = structOf('kubernetes.URL');

class UrlValue extends Opaque {
  readonly opaqueUrl: GoUrl;

  constructor(parts: GoUrl) {
    super();
    this.opaqueUrl = parts;
  }

  opaqueType() {
    return URL_TYPE;
  }

  opaqueEquals(other: Value): boolean {
    return other instanceof UrlValue && JSON.stringify(this.opaqueUrl) === JSON.stringify(other.opaqueUrl);
  }
}

function read(text: Value): Value | undefined {
  if (typeof text !== 'string') return undefined;
  const request = parseRequestUri(text);
  const parsed = 'problem' in request ? request : parseUrl(text);
  if ('url' in parsed) return new UrlValue(parsed.url);
  return fail(`URL parse error during conversion from string: ${parsed.problem}`);
}

const isUrl = (text: Value) => (typeof text === 'string' ? 'url' in parseRequestUri(text) : undefined);
const on = (body: (u: GoUrl) => Value) => (v: Value) =>
  v instanceof UrlValue ? body(v.opaqueUrl) : undefined;
const part = (name: string, id: string, body: (u: GoUrl) => string) =>
  fn(name, member(id, [URL_TYPE], STRING, on(body)));
const readCost: CallCost = (a) => traversal(sizeOf(a));

export const KUBERNETES_URL: Library = {
  name: 'kubernetes url',
  functions: working(
    250,
    fnAt(readCost, 'url', overload('string_to_url', [STRING], URL_TYPE, read)),
    part('getScheme', 'url_get_scheme', (u) => u.scheme),
    part('getHost', 'url_get_host', (u) => u.host),
    part('getHostname', 'url_get_hostname', hostname),
    part('getPort', 'url_get_port', port),
    part('getEscapedPath', 'url_get_escaped_path', (u) => u.escapedPath),
    fn(
      'getQuery',
      member(
        'url_get_query',
        [URL_TYPE],
        mapOf(STRING, listOf(STRING)),
        on((u) => Object.fromEntries(query(u))),
      ),
    ),
    fn('isURL', overload('is_url_string', [STRING], BOOL, isUrl)),
  ),
};
