// Parses the manifest of a release into objects. Splits documents like Helm, expands Lists, and keeps only the identity
// and the resource policy of each object.

import { nextTurn } from '@lapse/base/turn';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { boundedYaml, countYamlNodes } from '@lapse/kube/api/yamlLimits';
import { parseDocument } from 'yaml';
import { skimDocument } from './skimDocument.ts';

/** An object in a manifest. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty: the namespace of the release. */
  readonly namespace: string;
  readonly name: string;
  /** The object is kept when the release is uninstalled. */
  readonly keep: boolean;
}

export type Manifest =
  | { readonly kind: 'objects'; readonly objects: readonly ManifestObject[] }
  | { readonly kind: 'corrupt'; readonly why: string };

const MOST_OBJECTS = 5000;
const MOST_DOCUMENT = 4 * 2 ** 20;
/** Limit for a document that is cut down to the object's identity. Corresponds to a hundred milliseconds of parsing. */
const MOST_NODES_PER_DOCUMENT = 20_000;
const MOST_NODES = 100_000;
const NODES_PER_TURN = 2000;
const DEEPEST = 200;
const LIST_DEPTH = 3;

const HOOK = 'helm.sh/hook';
const POLICY = 'helm.sh/resource-policy';

export const splitDocuments = (manifest: string): string[] =>
  manifest.split(/^---[ \t]*/m).filter((document) => document.trim() !== '');

/** An unreadable document makes the whole manifest corrupt, as in Helm. */
export function parseManifest(manifest: string): Manifest {
  const steps = parseInSteps(manifest);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Like `parseManifest`, for untrusted manifests: yields to other work between documents. */
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

/** Yields the number of nodes of each parsed document. */
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

/** Parses the identity fields of a document, or the whole document if they cannot be cut out. */
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

/** Helm sorts documents by name as strings: the tenth comes before the second. */
const asHelmSorts = (documents: readonly string[]): [number, string][] =>
  documents
    .map((document, index): [number, string] => [index, document])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

/** One document as JSON; undefined if it is not YAML or exceeds the limits. */
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

/** Whether brackets or indentation nest deeper than in any real chart. */
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

/** Adds the object, or the items of a List. The resource policy of a List also applies to its items. */
function collect(json: Json, within: Within, into: ManifestObject[]): void {
  if (!isObject(json)) return;
  const metadata = getOwn(json, 'metadata');
  const meta = isObject(metadata) ? metadata : {};
  const found = getOwn(meta, 'annotations');
  const annotations = isObject(found) ? found : {};
  // Helm ignores the hook annotation inside a List: it installs and removes such items like any other object.
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

/** Adds the kind and apiVersion that the items of a `RoleList` may omit. */
function typed(item: Json, list: JsonObject): Json {
  if (!isObject(item) || text(list, 'kind') === 'List') return item;
  const kind = text(item, 'kind') || text(list, 'kind').slice(0, -'List'.length);
  return { ...item, kind, apiVersion: text(item, 'apiVersion') || text(list, 'apiVersion') };
}

/** Whether a live object must be kept. Helm also leaves the object behind for values other than `keep`. */
export const asksToStay = (annotations: Readonly<Record<string, string>> | undefined): boolean =>
  annotations !== undefined && Object.hasOwn(annotations, POLICY);
