// The guarantees of a watch, by name. A watcher lists and follows. When the stream breaks it resumes from the last
// version it received. When the server has compacted that version it lists again, which begins a new epoch.

export interface Committed {
  readonly version: number;
  readonly namespace: string;
  readonly name: string;
  readonly type: 'added' | 'modified' | 'deleted';
}

export type Heard =
  | (Committed & { readonly kind: 'event' })
  /** Everything up to this version has been sent. */
  | { readonly kind: 'bookmark'; readonly version: number }
  | { readonly kind: 'listed'; readonly version: number }
  /** A new stream, from this version on. */
  | { readonly kind: 'resumed'; readonly version: number };

export interface WatchEvidence {
  /** What the server committed, in order. */
  readonly committed: readonly Committed[];
  /** What one watcher received, in order. */
  readonly heard: readonly Heard[];
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
}

export type WatchGuarantee = (evidence: WatchEvidence) => string[];

type Event = Extract<Heard, { kind: 'event' }>;

interface Stretch {
  readonly from: number;
  readonly heard: Heard[];
}

/** Splits the received items at each `kind`; those before the first are dropped. */
function stretches(heard: readonly Heard[], kinds: readonly Heard['kind'][]): Stretch[] {
  const found: Stretch[] = [];
  for (const one of heard)
    if (kinds.includes(one.kind)) found.push({ from: one.version, heard: [] });
    else found.at(-1)?.heard.push(one);
  return found;
}

const epochs = ({ heard }: WatchEvidence): Stretch[] =>
  stretches(
    heard.filter(({ kind }) => kind !== 'resumed'),
    ['listed'],
  );
const streams = ({ heard }: WatchEvidence): Stretch[] => stretches(heard, ['listed', 'resumed']);

const isEvent = (one: Heard): one is Event => one.kind === 'event';
const idOf = ({ version, namespace, name, type }: Committed): string =>
  `${version} ${type} ${namespace}/${name}`;

const expectedOf = ({ committed, namespace }: WatchEvidence, from: number, to: number): Committed[] =>
  committed.filter(
    (one) =>
      one.version > from && one.version <= to && (namespace === undefined || one.namespace === namespace),
  );

const missing = (wanted: readonly Committed[], heard: readonly Event[]): string[] => {
  const ids = new Set(heard.map(idOf));
  return wanted.map(idOf).filter((id) => !ids.has(id));
};

/** Events come in the order in which they were committed. */
export const ordered: WatchGuarantee = (evidence) =>
  epochs(evidence).flatMap(({ from, heard }) => {
    let last = from;
    return heard.filter(isEvent).flatMap((event) => {
      const problem = event.version < last ? [`${idOf(event)} came after ${last}`] : [];
      last = Math.max(last, event.version);
      return problem;
    });
  });

/** No event comes twice, and every event was committed. */
export const unique: WatchGuarantee = (evidence) => {
  const real = new Set(evidence.committed.map(idOf));
  return epochs(evidence).flatMap(({ heard }) => {
    const seen = new Set<string>();
    return heard.filter(isEvent).flatMap((event) => {
      const id = idOf(event);
      const again = seen.has(id);
      seen.add(id);
      if (!real.has(id)) return [`${id} was never committed`];
      return again ? [`${id} came twice`] : [];
    });
  });
};

/** Within a stream, no event is missing between the first and the last; without faults, all events arrive. */
export const reliable: WatchGuarantee = (evidence) => [...gaps(evidence), ...neverCame(evidence)];

function neverCame(evidence: WatchEvidence): string[] {
  const last = epochs(evidence).at(-1);
  if (last === undefined) return ['nothing was ever listed'];
  const wanted = expectedOf(evidence, last.from, Number.POSITIVE_INFINITY);
  return missing(wanted, last.heard.filter(isEvent)).map((id) => `${id} never came`);
}

const gaps: WatchGuarantee = (evidence) =>
  streams(evidence).flatMap(({ heard }) => {
    const events = heard.filter(isEvent);
    const versions = events.map(({ version }) => version);
    if (versions.length === 0) return [];
    const wanted = expectedOf(evidence, Math.min(...versions) - 1, Math.max(...versions));
    return missing(wanted, events).map((id) => `${id} is missing within a stream`);
  });

/** A stream that is resumed from a version continues with the very next event. */
export const resumable: WatchGuarantee = (evidence) =>
  streams(evidence).flatMap(({ from, heard }) => {
    const events = heard.filter(isEvent);
    if (events.length === 0) return [];
    const first = Math.min(...events.map(({ version }) => version));
    return missing(expectedOf(evidence, from, first), events).map((id) => `${id} is missing after ${from}`);
  });

/** A bookmark says that everything up to its version has been sent. */
export const bookmarkable: WatchGuarantee = (evidence) =>
  epochs(evidence).flatMap(({ from, heard }) =>
    heard.flatMap((one, at) => {
      if (one.kind !== 'bookmark') return [];
      const before = heard.slice(0, at).filter(isEvent);
      const wanted = expectedOf(evidence, from, one.version);
      return missing(wanted, before).map((id) => `${id} had not come when ${one.version} was bookmarked`);
    }),
  );

export const WATCH_GUARANTEES = { ordered, unique, reliable, resumable, bookmarkable } satisfies Record<
  string,
  WatchGuarantee
>;
export type WatchGuaranteeName = keyof typeof WATCH_GUARANTEES;
