// Answers without values that always differ: generated names and addresses, versions, times. Generated values are
// numbered by their first appearance, so that a version that should not have changed is still noticed.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { WireResponse } from '../replay/types.ts';

export interface Seen {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: Json;
}

const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** One for each server and sequence. */
export class Normaliser {
  readonly #space: string;
  readonly #custom: boolean;
  readonly #rewritten: boolean;
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();

  constructor(space: string, { custom, rewritten }: { custom: boolean; rewritten: boolean }) {
    this.#space = space;
    this.#custom = custom;
    this.#rewritten = rewritten;
  }

  seen({ status, headers, body }: WireResponse): Seen {
    const warnings = [headers['warning'] ?? []].flat().map((line) => this.#text(String(line)));
    const tidy = body === undefined ? null : this.#value(body, '');
    // The real server may have validated an older cached object, and warned of it (refusedVersions: or of metadata).
    if (status === 404 || isOfAnotherVersion(body)) warnings.length = 0;
    return { status, warnings: warnings.sort(), body: isObject(tidy) ? withSortedCauses(tidy) : tidy };
  }

  #value(value: Json, name: string, sort = true): Json {
    if (typeof value === 'string') return this.#text(value, name);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#value(item, name, sort));
      return name === 'managedFields' ? sorted(items) : items;
    }
    return isObject(value) ? this.#object(value, sort) : value;
  }

  #object(value: JsonObject, sort: boolean): JsonObject {
    const out: JsonObject = {};
    const isList = 'items' in value || 'rows' in value;
    for (const key of sort ? Object.keys(value).sort() : Object.keys(value)) {
      // The embedded server has no descriptions.
      if (key === 'description' && 'jsonPath' in value === false && 'format' in value && 'priority' in value)
        continue;
      const entry = value[key]!;
      const item = isList && key === 'metadata' && isObject(entry) ? listMeta(entry) : entry;
      // Elements of sets are keys of managedFields, and may be the namespace.
      setOwn(out, key.replaceAll(this.#space, '{ns}'), this.#value(item, key, sort));
    }
    return out;
  }

  #quoted(text: string): string {
    try {
      const masked = JSON.stringify(this.#value(JSON.parse(JSON.parse(text) as string) as Json, '', false));
      return JSON.stringify(masked);
    } catch {
      return text;
    }
  }

  #text(text: string, name = ''): string {
    if (name === 'resourceVersion' && this.#rewritten) return '<version>';
    if (name === 'resourceVersion') return numbered(this.#versions, text, 'version');
    if (name === 'cells' && /^\d+s$/.test(text)) return '<age>';
    const masked = text
      .replace(QUOTED_PATCH, (_, lead: string, quoted: string) => `${lead}${this.#quoted(quoted)}: `)
      .replace(/selfType\d+/g, 'selfType')
      .replace(/Invalid value: \[\{[^\]]*"uid".*?\}\]: /gs, 'Invalid value: <references>: ')
      .replace(/(found new finalizers \[\]string)\{(.*?)\}/g, (_, lead, list) => lead + inOrder(list))
      .replace(/(Object 'Kind' is missing in) '.*'/s, '$1 <quoted>')
      .replaceAll(this.#space, '{ns}')
      .replace(UID, (uid) => (/^(00000000|11111111)-/.test(uid) ? uid : numbered(this.#uids, uid, 'uid')))
      .replace(/20(2[5-9]|[3-9]\d)-\d\d-\d\dT[0-9:.]+Z/g, '<time>')
      .replace(/("resourceVersion":")\d+/g, '$1<version>')
      .replace(/([Rr]esourceVersion[^0-9"]{0,30}"?)\d+/g, '$1<version>')
      .replace(/(gen-|Bad_)[bcdfghjklmnpqrstvwxz2456789]{5}/g, '$1<suffix>');
    return this.#custom ? unordered(masked) : unordered(softened(masked));
  }
}

const inOrder = (list: string): string => `{${list.split(', ').sort().join(', ')}}`;

const isOfAnotherVersion = (body: Json | undefined): boolean =>
  isObject(body) && String(body['message']).startsWith('the API version in the data');

/** The result of a patch, quoted. */
const QUOTED_PATCH = /(patch: Invalid value: |^Invalid value: )("(?:[^"\\]|\\.)*"): /s;

/** The version of a list is that of the whole server. */
function listMeta(metadata: JsonObject): JsonObject {
  const { resourceVersion: _, continue: token, ...rest } = metadata;
  return token === undefined ? rest : { ...rest, continue: token === '' ? '' : '<token>' };
}

function numbered(known: Map<string, string>, text: string, word: string): string {
  if (text === '' || text === '0') return text;
  if (!known.has(text)) known.set(text, `<${word} ${known.size + 1}>`);
  return known.get(text)!;
}

const sorted = (items: Json[]): Json[] =>
  items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Go's internal structs and their diffs use Go field names, which the embedded server does not know. */
const softened = (text: string): string =>
  text
    .replace(/(Invalid|Unsupported) value: [{[].*?[}\]]: /gs, '$1 value: {…}: ')
    .replace(/\n@@[\s\S]*/g, '\n<diff>');

/** Problems of an apply come in the order of Go maps, and an unknown field ends the search in its map. */
function unordered(text: string): string {
  if (!text.startsWith('failed to create typed patch object')) return text;
  const [first, ...problems] = text.split('\n');
  if (text.includes('field not declared in schema'))
    return first!.replace(/\): .*/, '): field not declared in schema');
  return [first, ...problems.sort()].join('\n');
}

/** Where the real server iterates over a map, the order of several causes is random. */
function withSortedCauses(answer: JsonObject): JsonObject {
  const details = answer['details'];
  const causes = isObject(details) ? details['causes'] : undefined;
  if (!isObject(details) || !Array.isArray(causes) || causes.length < 2) return answer;
  const message = String(answer['message']).replace(/ is invalid: [\s\S]*/, ' is invalid');
  return { ...answer, message, details: { ...details, causes: sorted([...causes]) } };
}
