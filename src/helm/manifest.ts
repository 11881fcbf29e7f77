// The manifest of a release as objects: documents split as Helm splits them, Lists taken apart, and of each object only
// what is needed to find it and to know what the chart says about its removal. Everything else is thrown away.

import { parseDocument } from 'yaml';
import { getOwn, isObject, type Json, type JsonObject } from '#api/json';

/** An object a manifest speaks of. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty: the release's. */
  readonly namespace: string;
  readonly name: string;
  /** Must stay when the release goes. */
  readonly keep: boolean;
}

export type Manifest =
  | { readonly kind: 'objects'; readonly objects: readonly ManifestObject[] }
  | { readonly kind: 'corrupt'; readonly why: string };

const MOST_OBJECTS = 5000;
const MOST_DOCUMENT = 4 * 2 ** 20;
/** A document that is mostly repetitions of itself is an attack. */
const MOST_ALIASES = 100;
const DEEPEST = 200;
const LIST_DEPTH = 3;

const HOOK = 'helm.sh/hook';
const POLICY = 'helm.sh/resource-policy';

export const splitDocuments = (manifest: string): string[] =>
  manifest.split(/^---[ \t]*/m).filter((document) => document.trim() !== '');

/** All or nothing: a document that cannot be read makes the whole manifest corrupt, as for Helm. */
export function parseManifest(manifest: string): Manifest {
  const objects: ManifestObject[] = [];
  const documents = splitDocuments(manifest);
  if (documents.length > MOST_OBJECTS) return tooMany;
  for (const [index, document] of asHelmSorts(documents)) {
    const parsed = parseYamlDocument(document);
    if (parsed === undefined)
      return { kind: 'corrupt', why: `document ${index} of the manifest cannot be read` };
    collect(parsed, { keep: false, depth: 0 }, objects);
    if (objects.length > MOST_OBJECTS) return tooMany;
  }
  return { kind: 'objects', objects };
}

const tooMany: Manifest = {
  kind: 'corrupt',
  why: `the manifest has more than ${MOST_OBJECTS} objects`,
};

/** Helm sorts its documents by name, as texts: the tenth comes before the second. */
const asHelmSorts = (documents: readonly string[]): [number, string][] =>
  documents
    .map((document, index): [number, string] => [index, document])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

/** One document as JSON; undefined when it is no YAML, or YAML made to hurt. */
export function parseYamlDocument(text: string): Json | undefined {
  if (text.length > MOST_DOCUMENT || nestsDeeply(text)) return undefined;
  try {
    const options = { version: '1.1', uniqueKeys: false, logLevel: 'silent' } as const;
    const document = parseDocument(text, options);
    if (document.errors.length > 0) return undefined;
    return (document.toJS({ maxAliasCount: MOST_ALIASES }) ?? null) as Json;
  } catch {
    return undefined;
  }
}

/** Brackets that nest deeper than any chart's, or indentation that does. */
function nestsDeeply(text: string): boolean {
  let depth = 0;
  for (const ch of text) {
    if (ch === '[' || ch === '{') depth++;
    else if (ch === ']' || ch === '}') depth = Math.max(0, depth - 1);
    if (depth > DEEPEST) return true;
  }
  return /^(?: |- |\? ){400}/m.test(text);
}

const text = (from: JsonObject, field: string): string => {
  const value = getOwn(from, field);
  return typeof value === 'string' ? value : '';
};

interface Within {
  readonly keep: boolean;
  readonly depth: number;
}

/** Adds the object, or the items of a List; what a chart says about a List holds for its items too. */
function collect(json: Json, within: Within, into: ManifestObject[]): void {
  if (!isObject(json)) return;
  const metadata = getOwn(json, 'metadata');
  const meta = isObject(metadata) ? metadata : {};
  const found = getOwn(meta, 'annotations');
  const annotations = isObject(found) ? found : {};
  // Inside a List the word means nothing to Helm: such items are installed and removed like any other.
  if (within.depth === 0 && getOwn(annotations, HOOK) !== undefined) return;
  const keep = within.keep || getOwn(annotations, POLICY) !== undefined;
  const items = getOwn(json, 'items');
  if (text(json, 'kind').endsWith('List') && Array.isArray(items)) {
    if (within.depth >= LIST_DEPTH || into.length > MOST_OBJECTS) return;
    for (const item of items) collect(typed(item, json), { keep, depth: within.depth + 1 }, into);
    return;
  }
  const name = text(meta, 'name');
  const [apiVersion, kind] = [text(json, 'apiVersion'), text(json, 'kind')];
  // Objects with generated names cannot be found again; Helm does not find them either.
  if (name === '' || kind === '' || apiVersion === '') return;
  into.push({ apiVersion, kind, namespace: text(meta, 'namespace'), name, keep });
}

/** Items of a `RoleList` may leave out what they are. */
function typed(item: Json, list: JsonObject): Json {
  if (!isObject(item) || text(list, 'kind') === 'List') return item;
  const kind = text(item, 'kind') || text(list, 'kind').slice(0, -'List'.length);
  return { ...item, kind, apiVersion: text(item, 'apiVersion') || text(list, 'apiVersion') };
}

/** Whether a live object asks to stay. Values other than `keep` make Helm forget the object, so it stays as well. */
export const asksToStay = (annotations: Readonly<Record<string, string>> | undefined): boolean =>
  annotations !== undefined && Object.hasOwn(annotations, POLICY);
