// Resolves a kind as kubectl does: plural, singular, kind or short name, with the group after a dot where needed.
// Pure. Every error says what to type instead.

import { parseApiVersion } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { ObjectName } from '#controllers/forecaster';
import { UsageError } from '#manager/usage';

export interface Target {
  readonly kind: string;
  readonly name: string;
}

/** Names that the API server rejects, because they would change the URL path. */
const NO_NAME = /^\.{1,2}$|%/;

/** Formats: `job/report-42`, or `job report-42`. */
export function parseTarget(words: readonly string[]): Target {
  const [first = '', ...rest] = words;
  const slash = first.indexOf('/');
  const [kind, name, more] =
    slash < 0 ? [first, rest[0], rest.slice(1)] : [first.slice(0, slash), first.slice(slash + 1), rest];
  if (kind === '' || name === undefined || name === '')
    throw new UsageError(`expected KIND/NAME, such as job/report-42, got "${words.join(' ')}"`);
  if (more.length > 0 || name.includes('/'))
    throw new UsageError(`expected one KIND/NAME, got "${words.join(' ')}"`);
  if (NO_NAME.test(name)) throw new UsageError(`"${name}" is not a valid object name`);
  return { kind, name };
}

/** Throws a UsageError for an unknown or ambiguous word. */
export function resolveKind(served: readonly ServedKind[], word: string): ServedKind {
  const matches = matchesOf(served, word.toLowerCase());
  const [only, ...others] = matches;
  if (only === undefined) throw new UsageError(unknownText(served, word));
  if (others.length === 0) return only;
  // Core kinds take precedence, for example over the pods of metrics.k8s.io.
  const core = matches.find(({ group }) => group === '');
  if (core !== undefined) return core;
  throw new UsageError(`kind "${word}" is ambiguous: use ${listed(matches.map(fullName))}`);
}

/** A form that kubectl accepts everywhere: `jobs.batch`, `pods`. */
export const fullName = ({ resource, group }: Pick<ServedKind, 'resource' | 'group'>): string =>
  group === '' ? resource : `${resource}.${group}`;

/** The name of an object for display, such as `job/report`, in a form that `resolveKind` accepts. */
export type Naming = (object: Pick<ObjectName, 'apiVersion' | 'kind' | 'name'>) => string;

/** Without discovery, kinds are assumed to be unambiguous. */
export const plainNaming: Naming = ({ kind, name }) => `${kind.toLowerCase()}/${name}`;

/** For example `service.serving.knative.dev/hello` where `service` is another kind. */
export function namingAmong(served: readonly ServedKind[]): Naming {
  const words = new Map<string, string>();
  return ({ apiVersion, kind, name }) => {
    const id = `${apiVersion} ${kind}`;
    const word = words.get(id) ?? wordFor(served, parseApiVersion(apiVersion)?.group ?? '', kind);
    words.set(id, word);
    return `${word}/${name}`;
  };
}

function wordFor(served: readonly ServedKind[], group: string, kind: string): string {
  const short = kind.toLowerCase();
  const matches = matchesOf(served, short);
  const isOnly = matches.every((one) => one.group === group && one.kind === kind);
  return group === '' || isOnly ? short : `${short}.${group}`;
}

/** One per group and resource: the requested version, or the preferred one. */
function matchesOf(served: readonly ServedKind[], word: string): ServedKind[] {
  const dot = word.indexOf('.');
  const base = dot < 0 ? word : word.slice(0, dot);
  const rest = dot < 0 ? undefined : word.slice(dot + 1);
  const found = new Map<string, ServedKind>();
  for (const kind of served) {
    const { group, version } = kind;
    const isThere = rest === undefined || rest === group || rest === `${version}.${group}`;
    if (!isThere || !namesOf(kind).includes(base) || !kind.verbs.includes('get')) continue;
    if (!found.has(fullName(kind))) found.set(fullName(kind), kind);
  }
  return [...found.values()];
}

const namesOf = ({ resource, singular, kind, shortNames }: ServedKind): string[] =>
  [resource, singular, kind, ...shortNames].filter(Boolean).map((name) => name.toLowerCase());

function unknownText(served: readonly ServedKind[], word: string): string {
  const [base = ''] = word.toLowerCase().split('.');
  const near = served
    .filter(({ verbs }) => verbs.includes('get'))
    .flatMap((kind) => namesOf(kind).map((name) => ({ kind, distance: distanceOf(base, name) })))
    .filter(({ distance }) => distance <= (base.length < 5 ? 1 : 2))
    .sort((a, b) => a.distance - b.distance);
  const names = [...new Set(near.map(({ kind }) => fullName(kind)))].slice(0, 3);
  const meant =
    names.length === 0 ? '; kubectl api-resources lists them' : `; did you mean ${listed(names)}?`;
  return `the cluster serves no kind "${word}"${meant}`;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** Edit distance, with transpositions as one edit. Kind names are short. */
function distanceOf(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2 || a.length < 3) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  let before = row;
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isTurned = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const turned = isTurned ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1), turned));
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
