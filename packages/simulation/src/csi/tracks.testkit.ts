// The states of recorded or simulated objects, by the controller that writes them, so that two runs can be compared.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { RecordedEvent, RecordedState } from './recording.testkit.ts';

const idOf = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

const annotationsOf = ({ metadata }: KubeObject, prefix: RegExp): unknown =>
  Object.entries(metadata.annotations ?? {})
    .filter(([key]) => prefix.test(key))
    .sort();

export const withoutBigInts = (_: string, value: unknown) =>
  typeof value === 'bigint' ? Number(value) : value;

const TIMES = new Set(['creationTime', 'time', 'lastPhaseTransitionTime', 'resourceVersion']);
const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (key, of) => (TIMES.has(key) ? 'set' : of))) as unknown;
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, of]) => [key, sorted(of)]),
      )
    : value;
};

type Pick = (object: RecordedState['object']) => unknown;
const finalizers: Pick = ({ metadata }) => metadata.finalizers ?? [];
/** The parts of an object that one controller writes. Writes of different controllers have no fixed order. */
const TRACKS: Readonly<Record<string, Readonly<Record<string, Pick>>>> = {
  PersistentVolumeClaim: {
    binding: (o) => [annotationsOf(o, /^(pv|volume)/), o.spec?.['volumeName'], o.status],
    finalizers,
  },
  PersistentVolume: {
    phase: ({ status }) => status?.['phase'],
    claim: (o) => [o.spec?.['claimRef'], annotationsOf(o, /bound-by/)],
    finalizers,
  },
  VolumeSnapshot: {
    status: (o) => [o.status, (finalizers(o) as string[]).filter((name) => !name.startsWith('provisioner'))],
    provisioner: (o) => (finalizers(o) as string[]).filter((name) => name.startsWith('provisioner')),
  },
  VolumeSnapshotContent: {
    snapshotter: (o) => [annotationsOf(o, /being-created/), o.status],
    controller: (o) => [
      finalizers(o),
      annotationsOf(o, /being-deleted/),
      (o.spec?.['volumeSnapshotRef'] as JsonObject | undefined)?.['uid'],
    ],
  },
};

/** Removes repetitions: `a a` and `a b a b` say no more than `a` and `a b`; how often depends on time alone. */
function collapse(values: readonly string[]): string[] {
  const result: string[] = [];
  for (const value of values) {
    if (result.at(-1) === value) continue;
    result.push(value);
    const [a, b, c, d] = result.slice(-4);
    if (result.length >= 4 && a === c && b === d) result.splice(-2);
  }
  return result;
}

/** `object track` → the states of that track in order. */
export type Tracks = Map<string, readonly string[]>;

export function tracksOf(states: readonly RecordedState[], events: readonly RecordedEvent[]): Tracks {
  const objects = new Map<string, RecordedState[]>();
  for (const state of states) {
    const id = idOf(state.object);
    objects.set(id, [...(objects.get(id) ?? []), state]);
  }
  const tracks: Tracks = new Map();
  for (const [id, all] of objects) {
    const living = all.filter(({ verb }) => verb !== 'DELETED').map(({ object }) => object);
    for (const [name, pick] of Object.entries(TRACKS[all[0]!.object.kind!]!))
      tracks.set(
        `${id} ${name}`,
        collapse(living.map((of) => JSON.stringify(sorted(withoutTimes(pick(of)))))),
      );
    const life = all.map(({ verb, object }) =>
      verb === 'DELETED' ? 'gone' : object.metadata.deletionTimestamp === undefined ? 'there' : 'terminating',
    );
    tracks.set(`${id} life`, collapse(life));
  }
  for (const { of, event } of events) {
    const id = `${of[0]} ${of[1]}/${of[2]} events`;
    tracks.set(id, [...new Set([...(tracks.get(id) ?? []), event])].sort());
  }
  return tracks;
}
