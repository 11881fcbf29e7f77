// Replays a recording of the real CSI stack: performs the recorded requests of users and owners at their recorded times,
// answers CSI calls as recorded, and compares the states that the simulated controllers produce, object by object.

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
import type { CsiDriver } from './driver.ts';
import { STOCK_SNAPSHOT_KINDS } from './kinds.ts';
import {
  linesOf,
  type RecordedCall,
  RecordedDriver,
  type RecordedEvent,
  type RecordedState,
} from './recording.testkit.ts';
import { csiStack } from './stack.ts';
import { type Tracks, tracksOf, withoutBigInts } from './tracks.testkit.ts';

const KINDS: readonly Kind[] = [
  PersistentVolumeClaim,
  PersistentVolume,
  VolumeSnapshot,
  VolumeSnapshotContent,
] as unknown as Kind[];
const kindNamed = (name: string): Kind => KINDS.find(({ kind }) => kind === name)!;

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
