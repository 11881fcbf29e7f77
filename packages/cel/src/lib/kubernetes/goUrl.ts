// Parses URLs like Go's net/url, because validation rules were written against it.

export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  /** Including the port. */
  readonly host: string;
  readonly escapedPath: string;
  readonly rawQuery: string;
  readonly fragment: string;
}

export type ParsedUrl = { readonly url: GoUrl } | { readonly problem: string };

const SCHEME = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/;
const USERINFO = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const HOST = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]*$/;
const UNRESERVED_IN_PATH = /[^A-Za-z0-9\-_.~$&+,/:;=@!'()*%[\]]/;

const problem = (text: string, why: string): { readonly problem: string } => ({
  problem: `parse ${quote(text)}: ${why}`,
});
const quote = (text: string): string => JSON.stringify(text);

function badEscape(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2})(.{0,2})/s.exec(text);
  return bad === null ? undefined : `invalid URL escape ${quote(`%${bad[1]}`)}`;
}

/** Accepts what url.ParseRequestURI accepts: an absolute URI or an absolute path. */
export function parseRequestUri(text: string): ParsedUrl {
  if (hasControl(text)) return problem(text, 'net/url: invalid control character in URL');
  if (text === '') return problem(text, 'empty url');
  return parse(text, text, '', true);
}

/** Like url.Parse, for a text that is already a valid request URI. */
export function parseUrl(text: string): ParsedUrl {
  const [body, fragment] = cut(text, '#');
  const wrong = badEscape(fragment);
  return wrong === undefined ? parse(text, body, fragment, false) : problem(text, wrong);
}

/** The text before and after the first separator, like strings.Cut of Go. */
function cut(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

const hasControl = (text: string): boolean => /[\x00-\x1f\x7f]/.test(text);

const NOTHING: GoUrl = {
  scheme: '',
  opaque: '',
  user: undefined,
  host: '',
  escapedPath: '',
  rawQuery: '',
  fragment: '',
};

function parse(whole: string, body: string, fragment: string, asRequest: boolean): ParsedUrl {
  if (body === '*') return { url: { ...NOTHING, escapedPath: '*', fragment } };
  if (body.startsWith(':')) return problem(whole, 'missing protocol scheme');
  const scheme = SCHEME.exec(body)?.[1] ?? '';
  const behind = scheme === '' ? body : body.slice(scheme.length + 1);
  const [rest, rawQuery] = cut(behind, '?');
  const base = { ...NOTHING, scheme: scheme.toLowerCase(), rawQuery, fragment };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { url: { ...base, opaque: rest } };
    if (asRequest) return problem(whole, 'invalid URI for request');
    if (rest.split('/')[0]!.includes(':'))
      return problem(whole, 'first path segment in URL cannot contain colon');
  }
  const hasAuthority = (scheme !== '' || (!asRequest && !rest.startsWith('///'))) && rest.startsWith('//');
  return hasAuthority ? withAuthority(whole, rest, base) : withPath(whole, rest, base);
}

function withAuthority(whole: string, rest: string, base: GoUrl): ParsedUrl {
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? undefined : authority.slice(0, at);
  const rawHost = authority.slice(at + 1);
  if (user !== undefined && !USERINFO.test(user)) return problem(whole, 'net/url: invalid userinfo');
  const wrong = wrongHost(rawHost) ?? (user === undefined ? undefined : badEscape(user));
  if (wrong !== undefined) return problem(whole, wrong);
  const host = decode(rawHost);
  return withPath(whole, slash < 0 ? '' : rest.slice(slash), { ...base, user, host });
}

function withPath(whole: string, path: string, base: GoUrl): ParsedUrl {
  const wrong = badEscape(path);
  if (wrong !== undefined) return problem(whole, wrong);
  return { url: { ...base, escapedPath: UNRESERVED_IN_PATH.test(path) ? escapePath(decode(path)) : path } };
}

function wrongHost(host: string): string | undefined {
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']');
    if (close < 0) return "missing ']' in host";
    if (!isPort(host.slice(close + 1))) return `invalid port ${quote(host.slice(close + 1))} after host`;
    return undefined;
  }
  const colon = host.lastIndexOf(':');
  if (colon >= 0 && !isPort(host.slice(colon))) return `invalid port ${quote(host.slice(colon))} after host`;
  // Only bytes beyond ASCII may be escaped in a host name.
  const escaped = badEscape(host) ?? /%(?!25)[0-7][0-9a-fA-F]/.exec(host)?.[0];
  if (escaped !== undefined)
    return escaped.startsWith('%') ? `invalid URL escape ${quote(escaped)}` : escaped;
  if (HOST.test(host)) return undefined;
  const bad = [...host].find((c) => !HOST.test(c));
  return `invalid character ${quote(bad ?? '')} in host name`;
}

const isPort = (text: string): boolean => text === '' || /^:\d*$/.test(text);

function decode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

const escapePath = (path: string): string =>
  path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]+/g, (run) =>
    [...Buffer.from(run)].map((b) => `%${b.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/** The host without port and brackets. */
export function hostname({ host }: GoUrl): string {
  const bare = splitPort(host)[0];
  return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare;
}

export const port = ({ host }: GoUrl): string => splitPort(host)[1];

function splitPort(host: string): readonly [string, string] {
  const colon = host.lastIndexOf(':');
  return colon >= 0 && isPort(host.slice(colon)) && !host.endsWith(']')
    ? [host.slice(0, colon), host.slice(colon + 1)]
    : [host, ''];
}

/** The decoded query. Like url.Query, it omits pairs that cannot be decoded. */
export function query({ rawQuery }: GoUrl): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of rawQuery.split('&')) {
    if (pair === '' || pair.includes(';') || badEscape(pair) !== undefined) continue;
    const [key, value] = cut(pair, '=').map(decodeQuery) as [string, string];
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}

const decodeQuery = (text: string): string => decode(text.replaceAll('+', ' '));
