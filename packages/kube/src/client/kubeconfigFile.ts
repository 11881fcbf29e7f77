// Reads kubeconfig files and merges them like kubectl: the first file that names an entry defines it.

import { readFile } from 'node:fs/promises';
import { type Document, parseDocument } from 'yaml';
import { isObject, type Json } from '#api/json';
import { boundedYaml } from '#api/yamlLimits';
import { ConfigError, Fields } from './configFields.ts';

/** A named cluster, user or context, and its file. Relative paths start at the directory of this file. */
export interface Entry {
  readonly name: string;
  readonly file: string;
  readonly fields: Fields;
}

export interface Kubeconfig {
  readonly files: readonly string[];
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly currentContext?: string;
}

const SECTIONS = [
  ['clusters', 'cluster'],
  ['users', 'user'],
  ['contexts', 'context'],
] as const;

function checkSyntax(document: Document, file: string): void {
  const problem = document.errors[0];
  if (problem !== undefined) throw new ConfigError(file, `not YAML: ${problem.message}`, problem);
}

/** Scalars except null and booleans stay strings: a token of digits must keep every digit. */
function parseYaml(text: string, file: string): Json {
  try {
    const document = parseDocument(text, { schema: 'failsafe', customTags: ['null', 'bool'], merge: true });
    checkSyntax(document, file);
    return (boundedYaml(document).toJS() ?? {}) as Json;
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(file, `invalid YAML: ${(cause as Error).message}`, cause);
  }
}

function readSection(root: Fields, file: string, section: string, field: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const item of root.maps(section)) {
    const name = item.required('name');
    if (entries.has(name))
      throw new ConfigError(item.where, `duplicate ${field} name ${JSON.stringify(name)}`);
    const body = item.json(field) ?? {};
    const where = `${file}: ${field} ${JSON.stringify(name)}`;
    if (!isObject(body)) throw new ConfigError(where, 'must be a map');
    entries.set(name, { name, file, fields: new Fields(body, where) });
  }
  return entries;
}

/** Parses one file. Only the entries that are used later are validated further. */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  const json = parseYaml(text, file);
  if (!isObject(json)) throw new ConfigError(file, 'not a kubeconfig: expected a map');
  const root = new Fields(json, file);
  const kind = root.text('kind');
  if (kind !== undefined && kind !== 'Config')
    throw new ConfigError(root.at('kind'), `must be Config, not ${kind}`);
  const [clusters, users, contexts] = SECTIONS.map(([section, field]) =>
    readSection(root, file, section, field),
  );
  const currentContext = root.text('current-context');
  return {
    files: [file],
    clusters: clusters!,
    users: users!,
    contexts: contexts!,
    ...(currentContext === undefined ? {} : { currentContext }),
  };
}

/** The first definition of an entry wins. Entries are never merged field by field. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (section: 'clusters' | 'users' | 'contexts') =>
    new Map(configs.toReversed().flatMap((config) => [...config[section]]));
  const currentContext = configs.find((config) => config.currentContext !== undefined)?.currentContext;
  return {
    files: configs.flatMap((config) => config.files),
    clusters: merged('clusters'),
    users: merged('users'),
    contexts: merged('contexts'),
    ...(currentContext === undefined ? {} : { currentContext }),
  };
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** The configuration in the file. Undefined if the file does not exist. */
export async function readKubeconfig(file: string): Promise<Kubeconfig | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new ConfigError(file, `cannot be read: ${(error as Error).message}`, error);
  }
  return parseKubeconfig(text, file);
}

/** The cluster extension that is passed to exec plugins, with its JSON types. */
export async function readExecExtension(file: string, cluster: string): Promise<Json | undefined> {
  const document = parseDocument(await readFile(file, 'utf8'), { schema: 'core', merge: true });
  const json: unknown = boundedYaml(document).toJS();
  const clusters = isObject(json) && Array.isArray(json.clusters) ? json.clusters.filter(isObject) : [];
  const body = clusters.find((entry) => String(entry.name) === cluster)?.cluster;
  const extensions = isObject(body) && Array.isArray(body.extensions) ? body.extensions.filter(isObject) : [];
  return extensions.find((entry) => entry.name === 'client.authentication.k8s.io/exec')?.extension;
}
