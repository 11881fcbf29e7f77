// Object references as in kubectl: `job/report`, `team-a/job/report`, `node/n1`. The default namespace is `default`. The
// kind may be its name, plural, singular or short name.

import { type Kind, type ObjectKey, plainKind } from '@lapse/kube/api/kind';
import type { Discovery, ServedKind } from '@lapse/kube/client/discovery';

export interface Found {
  readonly kind: Kind;
  readonly key: ObjectKey;
}

export const DEFAULT_NAMESPACE = 'default';

interface Ref {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

export function parseRef(text: string): Ref {
  const parts = text.split('/');
  const [first = '', second = '', third] = parts;
  if (parts.length < 2 || parts.length > 3 || parts.some((part) => part === ''))
    throw new Error(`${JSON.stringify(text)} is not "kind/name" or "namespace/kind/name"`);
  return third === undefined
    ? { kind: first, name: second }
    : { namespace: first, kind: second, name: third };
}

/** The name of an object in timelines. */
export function refText(kind: string, key: ObjectKey): string {
  const short = `${kind.toLowerCase()}/${key.name}`;
  return key.namespace === undefined || key.namespace === DEFAULT_NAMESPACE
    ? short
    : `${key.namespace}/${short}`;
}

export async function findRef(discovery: Discovery, text: string): Promise<Found> {
  const ref = parseRef(text);
  const kind = await findKind(discovery, ref.kind);
  const { namespace = DEFAULT_NAMESPACE, name } = ref;
  return { kind, key: kind.namespaced ? { namespace, name } : { name } };
}

/** `jobs.batch` includes the group. */
async function findKind(discovery: Discovery, word: string): Promise<Kind> {
  for (const prepare of [() => {}, () => discovery.invalidate()]) {
    prepare();
    const hit = pick(await discovery.all(), word.toLowerCase());
    if (hit !== undefined) return plainKind(hit);
  }
  throw new Error(`the server serves no kind called ${JSON.stringify(word)}`);
}

function pick(all: readonly ServedKind[], word: string): ServedKind | undefined {
  const answersTo = (kind: ServedKind): boolean =>
    [kind.resource, kind.singular, kind.kind.toLowerCase(), ...kind.shortNames].some(
      (name) => name === word || `${name}.${kind.group}` === word,
    );
  const hits = all.filter(answersTo);
  // Two API groups serve the same Events.
  return hits.find(({ group }) => group === '') ?? hits[0];
}
