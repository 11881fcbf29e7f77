// Replays a recording of the real CSI stack: performs the recorded requests of users and owners at their recorded times,
// answers CSI calls as recorded, and compares the states that the simulated controllers produce, object by object.

import { readFileSync } from 'node:fs';
import { type Instant, isDue, millis, plus } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace } from '@lapse/kube/api/kinds/builtin';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import { type World, world } from '@lapse/runtime/world.testkit';
import type { CsiDriver, CsiReply, CsiSnapshot, CsiVolume } from './driver.ts';
import { STOCK_SNAPSHOT_KINDS } from './kinds.ts';
import { csiStack } from './stack.ts';

interface RecordedState {
  readonly at: number;
  readonly verb: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject & { spec?: JsonObject; status?: JsonObject };
}
interface RecordedEvent {
  readonly at: number;
  readonly event: string;
  readonly of: readonly [kind: string, namespace: string, name: string];
}
interface RecordedCall {
  readonly at: number;
  readonly ms: number;
  readonly method: string;
  readonly of: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly snapshot?: Omit<CsiSnapshot, 'createdAt'>;
  readonly volume?: CsiVolume;
}

const KINDS: readonly Kind[] = [
  PersistentVolumeClaim,
  PersistentVolume,
  VolumeSnapshot,
  VolumeSnapshotContent,
] as unknown as Kind[];
const kindNamed = (name: string): Kind => KINDS.find(({ kind }) => kind === name)!;

const linesOf = <T>(file: string): T[] =>
  readFileSync(new URL(`fixtures/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

const idOf = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** Answers calls as recorded: in order, but neither long before nor long after the time of the recorded answer. */
class RecordedDriver implements CsiDriver {
  readonly name = 'hostpath.csi.k8s.io';
  readonly #calls = new Map<string, RecordedCall[]>();
  readonly #running = new Map<string, { readonly until: Instant; readonly call: RecordedCall }>();
  readonly #used = new Map<string, number>();
  readonly #start: () => Instant;
  readonly #recorded: (text: string) => string;

  constructor(calls: readonly RecordedCall[], start: () => Instant, recorded: (text: string) => string) {
    this.#start = start;
    this.#recorded = recorded;
    for (const call of calls) {
      const id = `${call.method} ${call.of}`;
      this.#calls.set(id, [...(this.#calls.get(id) ?? []), call]);
    }
  }

  createVolume({ name }: { name: string }, now: Instant): CsiReply<CsiVolume> {
    return this.#reply('CreateVolume', name, now, ({ volume }) => volume!);
  }
  deleteVolume(): CsiReply<undefined> {
    return { kind: 'ok', value: undefined };
  }
  createSnapshot({ name }: { name: string }, now: Instant): CsiReply<CsiSnapshot> {
    return this.#reply('CreateSnapshot', name, now, ({ snapshot }) => ({ ...snapshot!, createdAt: now }));
  }
  getSnapshot(handle: string, now: Instant): CsiReply<CsiSnapshot> {
    return this.#reply('ListSnapshots', handle, now, ({ snapshot }) => ({ ...snapshot!, createdAt: now }));
  }
  deleteSnapshot(handle: string, now: Instant): CsiReply<undefined> {
    return this.#reply('DeleteSnapshot', handle, now, () => undefined);
  }

  #reply<T>(method: string, of: string, now: Instant, value: (call: RecordedCall) => T): CsiReply<T> {
    const id = `${method} ${this.#recorded(of)}`;
    const known = this.#running.get(id);
    const call = known?.call ?? this.#next(id, now - this.#start());
    const until = known?.until ?? plus(now, millis(call.ms));
    if (!isDue(until, now)) {
      this.#running.set(id, { until, call });
      return { kind: 'running', until };
    }
    this.#running.delete(id);
    if (call.error === undefined) return { kind: 'ok', value: value(call) };
    // The recorder saw that the sidecar cancelled the call; the sidecar saw its own deadline.
    const { code, message } =
      call.error.code === 'Canceled'
        ? { code: 'DeadlineExceeded', message: 'context deadline exceeded' }
        : call.error;
    return { kind: 'error', code: code as never, message };
  }

  #next(id: string, at: number): RecordedCall {
    const calls = this.#calls.get(id);
    if (calls === undefined) throw new Error(`the recording has no call ${id}`);
    let index = Math.min(this.#used.get(id) ?? 0, calls.length - 1);
    while (index + 1 < calls.length && calls[index + 1]!.at <= at - 1000) index++;
    if (index > 0 && calls[index]!.at > at + 3000) index--;
    this.#used.set(id, index + 1);
    return calls[index]!;
  }
}

/** A request that a user, Lapse or the garbage collector sent when the recording was made. */
type Input =
  | { readonly at: number; readonly do: 'create'; readonly object: KubeObject }
  | { readonly at: number; readonly do: 'patch'; readonly object: KubeObject; readonly patch: JsonObject }
  | { readonly at: number; readonly do: 'delete'; readonly object: KubeObject };

const isDynamic = ({ kind, metadata }: KubeObject): boolean =>
  kind === 'VolumeSnapshotContent' && metadata.name!.startsWith('snapcontent-');

function patchBetween(
  before: RecordedState['object'],
  after: RecordedState['object'],
): JsonObject | undefined {
  const patch: Record<string, JsonObject> = {};
  const owners = (of: KubeObject) => JSON.stringify(of.metadata.ownerReferences ?? null);
  if (owners(before) !== owners(after))
    patch['metadata'] = { ownerReferences: (after.metadata.ownerReferences ?? null) as never };
  const claimRef = (of: RecordedState['object']) => of.spec?.['claimRef'] as JsonObject | undefined;
  if (claimRef(before)?.['uid'] !== undefined && claimRef(after)?.['uid'] === undefined) {
    const next = claimRef(after);
    patch['spec'] = { claimRef: next === undefined ? null : { ...next, uid: null, resourceVersion: null } };
  }
  return Object.keys(patch).length === 0 ? undefined : (patch as JsonObject);
}

function inputsOf(states: readonly RecordedState[]): Input[] {
  const inputs: Input[] = [];
  const last = new Map<string, RecordedState>();
  const isTerminating = (state: RecordedState | undefined) =>
    state?.object.metadata.deletionTimestamp !== undefined;
  for (const state of states) {
    const { at, verb, object } = state;
    const before = last.get(object.metadata.uid!);
    last.set(object.metadata.uid!, state);
    if (verb === 'ADDED') {
      if (object.kind !== 'PersistentVolume' && !isDynamic(object)) inputs.push({ at, do: 'create', object });
      continue;
    }
    const snapshotUid = (object.spec?.['volumeSnapshotRef'] as JsonObject | undefined)?.['uid'];
    const withSnapshot =
      isDynamic(object) &&
      object.spec?.['deletionPolicy'] === 'Delete' &&
      isTerminating(last.get(snapshotUid as string));
    const starts = !isTerminating(before) && (verb === 'DELETED' || isTerminating(state));
    if (starts && !withSnapshot) inputs.push({ at, do: 'delete', object });
    const patch = before === undefined ? undefined : patchBetween(before.object, object);
    if (patch !== undefined) inputs.push({ at, do: 'patch', object, patch });
  }
  return inputs;
}

const annotationsOf = ({ metadata }: KubeObject, prefix: RegExp): unknown =>
  Object.entries(metadata.annotations ?? {})
    .filter(([key]) => prefix.test(key))
    .sort();

const withoutBigInts = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);

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

function tracksOf(states: readonly RecordedState[], events: readonly RecordedEvent[]): Tracks {
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

export interface Replay {
  readonly recorded: Tracks;
  readonly simulated: Tracks;
}

class Replayer {
  readonly #states: RecordedState[] = [];
  readonly #events: RecordedEvent[] = [];
  readonly #uids = new Map<string, string>();
  readonly #namespaces = new Set<string>();
  #world!: World;

  async run(name: string): Promise<Replay> {
    const lines = linesOf<RecordedState | RecordedEvent>(name);
    const states = lines.filter((line): line is RecordedState => 'verb' in line);
    const driver = new RecordedDriver(
      linesOf<RecordedCall>(`${name}.calls`),
      () => this.#world.start,
      (text) => this.#recordedText(text),
    );
    this.#world = await this.#start(driver);
    const stop = new AbortController();
    try {
      await this.#prepare();
      this.#follow(stop.signal);
      const begin = this.#world.since();
      for (const input of inputsOf(states)) {
        await this.#world.pass(Math.max(0, begin + input.at - this.#world.since()));
        await this.#perform(input);
      }
      await this.#world.pass(60_000);
    } finally {
      stop.abort();
      await this.#world.close();
    }
    const text = this.#recordedText(JSON.stringify([this.#states, this.#events], withoutBigInts));
    const [ours, events] = JSON.parse(text) as [RecordedState[], RecordedEvent[]];
    return {
      recorded: tracksOf(
        states,
        lines.filter((line): line is RecordedEvent => 'event' in line),
      ),
      simulated: tracksOf(ours, events),
    };
  }

  #start(driver: CsiDriver): Promise<World> {
    return world({
      controllers: [...csiStack({ driver })],
      listBy: 'pages',
      bookmarks: false,
      events: {
        pending: 0,
        close: async () => {},
        sink: {
          record: ({ kind, metadata }, { reason }) => {
            this.#events.push({
              at: 0,
              event: reason,
              of: [kind!, metadata.namespace ?? '', metadata.name!],
            });
          },
        },
      },
    });
  }

  async #prepare(): Promise<void> {
    const { user } = this.#world;
    for (const { crd } of STOCK_SNAPSHOT_KINDS) objectOf(await user.create(CustomResourceDefinition, crd));
    await this.#world.pass(1000);
    for (const [name, reclaimPolicy] of [
      ['hp', 'Delete'],
      ['hp-retain', 'Retain'],
    ])
      await user.create(StorageClass, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: name! },
        provisioner: 'hostpath.csi.k8s.io',
        reclaimPolicy: reclaimPolicy!,
      });
    for (const [name, deletionPolicy] of [
      ['hp-snap', 'Delete'],
      ['hp-snap-retain', 'Retain'],
    ])
      await user.create(VolumeSnapshotClass, {
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshotClass',
        metadata: { name: name! },
        driver: 'hostpath.csi.k8s.io',
        deletionPolicy: deletionPolicy!,
      });
    this.#world.manager.start();
    await this.#world.pass(1000);
  }

  #follow(signal: AbortSignal): void {
    const follow = async (kind: Kind) => {
      for await (const event of this.#world.user.watch(kind, { signal }))
        if (event.type === 'added' || event.type === 'modified' || event.type === 'deleted') {
          const verb = event.type.toUpperCase() as RecordedState['verb'];
          this.#states.push({ at: 0, verb, object: event.object as RecordedState['object'] });
        }
    };
    for (const kind of KINDS) follow(kind).catch(() => {});
  }

  async #perform(input: Input): Promise<void> {
    const { user } = this.#world;
    const kind = kindNamed(input.object.kind!);
    const object = JSON.parse(this.#ourText(JSON.stringify(input.object))) as KubeObject;
    const { namespace, name } = object.metadata;
    const key = namespace === undefined ? { name: name! } : { namespace, name: name! };
    if (input.do === 'delete') await user.delete(kind, key);
    if (input.do === 'patch') {
      const patch = JSON.parse(this.#ourText(JSON.stringify(input.patch))) as object;
      objectOf(await user.patch(kind, key, { type: 'merge', patch }));
    }
    if (input.do === 'create') {
      await this.#ensureNamespace(namespace);
      const created = objectOf(await user.create(kind, object));
      this.#uids.set(input.object.metadata.uid!, created.metadata.uid!);
    }
    await this.#world.settle();
  }

  async #ensureNamespace(name: string | undefined): Promise<void> {
    if (name === undefined || this.#namespaces.has(name)) return;
    this.#namespaces.add(name);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await this.#world.user.create(Namespace, namespace);
  }

  #ourText(text: string): string {
    let result = text;
    for (const [recorded, ours] of this.#uids) result = result.replaceAll(recorded, ours);
    return result;
  }
  #recordedText(text: string): string {
    let result = text;
    for (const [recorded, ours] of this.#uids) result = result.replaceAll(ours, recorded);
    return result;
  }
}

export const replay = (name: string): Promise<Replay> => new Replayer().run(name);
