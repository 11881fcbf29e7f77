// The manifest of a release as objects: documents split as Helm splits them, Lists taken apart, and of each object only
// what is needed to find it and to know what the chart says about its removal. Everything else is thrown away.

import { nextTurn } from '@lapse/base/turn';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { boundedYaml, countYamlNodes } from '@lapse/kube/api/yamlLimits';
import { parseDocument } from 'yaml';
import { skimDocument } from './skimDocument.ts';

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
/** What is left of a document when all but the object's identity is cut; a hundred milliseconds of parsing. */
const MOST_NODES_PER_DOCUMENT = 20_000;
const MOST_NODES = 100_000;
const NODES_PER_TURN = 2000;
const DEEPEST = 200;
const LIST_DEPTH = 3;

const HOOK = 'helm.sh/hook';
const POLICY = 'helm.sh/resource-policy';

export const splitDocuments = (manifest: string): string[] =>
  manifest.split(/^---[ \t]*/m).filter((document) => document.trim() !== '');

/** All or nothing: a document that cannot be read makes the whole manifest corrupt, as for Helm. */
export function parseManifest(manifest: string): Manifest {
  const steps = parseInSteps(manifest);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The same, for manifests that others wrote: other work gets its turn in between. */
export async function parseManifestInTurns(manifest: string): Promise<Manifest> {
  const steps = parseInSteps(manifest);
  let nodes = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    nodes += step.value;
    if (nodes < NODES_PER_TURN) continue;
    nodes = 0;
    await nextTurn();
  }
}

/** Gives the number of nodes of each document that was parsed. */
function* parseInSteps(manifest: string): Generator<number, Manifest, void> {
  const objects: ManifestObject[] = [];
  const documents = splitDocuments(manifest);
  if (documents.length > MOST_OBJECTS) return tooMany;
  let total = 0;
  for (const [index, document] of asHelmSorts(documents)) {
    const parsed = readDocument(document);
    if (parsed === undefined)
      return { kind: 'corrupt', why: `document ${index} of the manifest cannot be read` };
    collect(parsed.json, { keep: false, depth: 0 }, objects);
    total += parsed.nodes;
    if (objects.length > MOST_OBJECTS) return tooMany;
    if (total > MOST_NODES) return tooLarge;
    yield parsed.nodes;
  }
  return { kind: 'objects', objects };
}

const tooLarge: Manifest = { kind: 'corrupt', why: 'the manifest is larger than any release' };

/** The part of a document that says which object it is, or, where that cannot be cut out, the whole. */
function readDocument(document: string): { readonly json: Json; readonly nodes: number } | undefined {
  for (const text of [skimDocument(document), document]) {
    const nodes = text === undefined ? 0 : countYamlNodes(text);
    const json = text === undefined || nodes > MOST_NODES_PER_DOCUMENT ? undefined : parseYamlDocument(text);
    if (json !== undefined) return { json, nodes };
  }
  return undefined;
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
    return (boundedYaml(document).toJS() ?? null) as Json;
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
