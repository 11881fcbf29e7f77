// A random cluster for plans: Jobs, Pods, ConfigMaps, requests and keepers of all ages, policies and Cleaners for them,
// and random owners. The same seed generates the same cluster.

import { formatTime, type Instant, millis, plus } from '@lapse/base/instant';
import { type Random, seededRandom, uuid } from '@lapse/base/random';
import type { KubeObject, ObjectMeta, OwnerReference } from '@lapse/kube/api/object';

const MINUTE = 60_000;
export const NAMESPACES = ['ci', 'prod'];

export class Dice {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** From 0 to `most` − 1. */
  below(most: number): number {
    return Math.floor(this.#random.next() * most);
  }
  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }
  pick<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }
  uid(): string {
    return uuid(this.#random);
  }
}

/**
 * All objects of a cluster, as of `now`. A crowded cluster has few different times, more owners and more finalizers, so
 * that many deletions fall on the same instant.
 */
export function drawWorld(dice: Dice, now: Instant, size: number, crowded = false): KubeObject[] {
  const world = new World(dice, now, crowded);
  for (let i = 0; i < size; i++) world.addObject(i);
  for (let i = 0; i < 1 + dice.below(4); i++) world.addPolicy(i);
  for (let i = 0; i < dice.below(3); i++) world.addCleaner(i);
  for (let i = 0; i < dice.below(5); i++) world.addKeeper(i);
  world.drawOwners();
  return [
    ...world.objects,
    ...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  ];
}

class World {
  readonly objects: KubeObject[] = [];
  readonly #dice: Dice;
  readonly #now: Instant;
  readonly #crowded: boolean;

  constructor(dice: Dice, now: Instant, crowded: boolean) {
    this.#dice = dice;
    this.#now = now;
    this.#crowded = crowded;
  }

  #ago(minutes: number): string {
    if (this.#crowded) return formatTime(plus(this.#now, millis(-this.#dice.pick([5, 10]) * MINUTE)));
    return formatTime(plus(this.#now, millis(-this.#dice.below(minutes * 60) * 1000)));
  }

  #meta(name: string, more: Partial<ObjectMeta> = {}): ObjectMeta {
    const dice = this.#dice;
    const labels = { app: dice.pick(['a', 'b']) };
    const finalizers = dice.chance(this.#crowded ? 0.3 : 0.06)
      ? { finalizers: [dice.pick(['x.dev/hold', 'orphan'])] }
      : {};
    return {
      name,
      namespace: dice.pick(NAMESPACES),
      uid: dice.uid(),
      generation: 1,
      labels,
      creationTimestamp: this.#ago(60),
      ...finalizers,
      ...more,
    };
  }

  #annotations(): Partial<ObjectMeta> {
    const dice = this.#dice;
    if (dice.chance(0.85)) return {};
    const expires = formatTime(plus(this.#now, millis(dice.below(120) * MINUTE)));
    return {
      annotations: dice.pick<Record<string, string>>([
        { 'lapse.dev/ttl': 'never' },
        { 'lapse.dev/ttl': `${dice.below(90)}m` },
        { 'lapse.dev/ttl': 'soon' },
        { 'lapse.dev/expires-at': expires },
      ]),
    };
  }

  addObject(i: number): void {
    const draw = this.#dice.pick([
      this.#job,
      this.#job,
      this.#pod,
      this.#configMap,
      this.#configMap,
      this.#request,
    ]);
    this.objects.push(draw.call(this, i));
  }

  #job(i: number): KubeObject {
    const dice = this.#dice;
    const ttl = dice.chance(0.8)
      ? { ttlSecondsAfterFinished: this.#crowded ? dice.pick([1200, 1800]) : dice.below(7200) }
      : {};
    const labels = { 'batch.kubernetes.io/job-name': `j${i}` };
    const template = {
      metadata: { labels },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
    };
    const condition = {
      type: dice.pick(['Complete', 'Failed', 'Suspended']),
      status: 'True',
      lastTransitionTime: this.#ago(90),
    };
    return {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: this.#meta(`j${i}`, this.#annotations()),
      spec: { ...ttl, manualSelector: true, selector: { matchLabels: labels }, template },
      status: dice.chance(0.85) ? { conditions: [condition] } : {},
    } as KubeObject;
  }

  #pod(i: number): KubeObject {
    const dice = this.#dice;
    const annotations = dice.chance(0.6)
      ? { annotations: { 'lapse.dev/ttl-seconds-after-finished': dice.pick(['60', '3600', '5400', 'x']) } }
      : {};
    const finishedAt = this.#ago(90);
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: this.#meta(`p${i}`, annotations),
      spec: {
        restartPolicy: dice.pick(['Never', 'Never', 'Always']),
        containers: [{ name: 'c', image: 'i' }],
      },
      status: {
        phase: dice.pick(['Succeeded', 'Failed', 'Running']),
        containerStatuses: [{ name: 'c', state: { terminated: { finishedAt } } }],
      },
    } as KubeObject;
  }

  #configMap(i: number): KubeObject {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: this.#meta(`c${i}`, this.#annotations()) };
  }

  #request(i: number): KubeObject {
    const dice = this.#dice;
    const at = this.#ago(10);
    const ended = {
      completionTimestamp: at,
      conditions: [
        {
          type: 'Ready',
          status: dice.pick(['True', 'False']),
          reason: 'Completed',
          message: 'm',
          lastTransitionTime: at,
        },
      ],
    };
    return {
      apiVersion: 'storage.deckhouse.io/v1alpha1',
      kind: 'VolumeCaptureRequest',
      metadata: this.#meta(`r${i}`),
      spec: { mode: 'Snapshot', persistentVolumeClaimRef: { name: 'data' } },
      ...(dice.chance(0.8) ? { status: ended } : {}),
    } as KubeObject;
  }

  addPolicy(i: number): void {
    const dice = this.#dice;
    const cluster = dice.chance(0.4);
    const { namespace, ...meta } = this.#meta(`policy${i}`, { finalizers: [] });
    const selector = dice.chance(0.5) ? { selector: { matchLabels: { app: dice.pick(['a', 'b']) } } } : {};
    const jobs = dice.chance(0.3);
    this.objects.push({
      apiVersion: 'lapse.dev/v1alpha1',
      kind: cluster ? 'ClusterTTLPolicy' : 'TTLPolicy',
      metadata: cluster ? meta : { ...meta, namespace: namespace! },
      spec: {
        target: jobs ? { apiVersion: 'batch/v1', kind: 'Job' } : { apiVersion: 'v1', kind: 'ConfigMap' },
        from: jobs ? 'Finished' : 'Created',
        ttl: dice.chance(0.05) ? 'nonsense' : `${this.#crowded ? dice.pick([20, 30]) : dice.below(120)}m`,
        mode: dice.pick(['Enforce', 'Enforce', 'Enforce', 'DryRun', 'Paused']),
        allowOverrides: dice.chance(0.7),
        propagationPolicy: dice.pick(['Background', 'Foreground', 'Orphan']),
        excludedNamespaces: cluster && dice.chance(0.3) ? ['pr*'] : undefined,
        ...selector,
      },
    } as unknown as KubeObject);
  }

  /** Conditions read the time, and objects that no rule deletes. */
  addCleaner(i: number): void {
    const dice = this.#dice;
    const when = formatTime(plus(this.#now, millis((dice.below(120) - 20) * MINUTE)));
    const metadata = this.#meta(`cleaner${i}`, { finalizers: [] });
    const witness = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: this.#meta(`witness${i}`, { namespace: metadata.namespace!, finalizers: [], labels: {} }),
    };
    this.objects.push(witness, {
      apiVersion: 'cleaner.vtex.dev/v1alpha',
      kind: 'Cleaner',
      metadata,
      spec: {
        ttl: `${dice.below(120)}m`,
        retry: { period: dice.pick(['3m', '7m']), monotonic: dice.chance(0.5) },
        mode: dice.pick(['Enforce', 'Enforce', 'DryRun']),
        targets: [
          {
            name: 'maps',
            reference: { kind: 'configmap', matchLabels: { app: dice.pick(['a', 'b']) } },
            delete: dice.chance(0.8),
          },
          {
            name: 'witness',
            reference: { kind: 'serviceaccount', name: dice.chance(0.9) ? `witness${i}` : 'nobody' },
            includeWhenEvaluating: true,
          },
        ],
        conditions: dice.pick([
          [],
          [`time > timestamp("${when}")`],
          [`time - timestamp(witness.metadata.creationTimestamp) > duration("80m")`],
          [`witness.metadata.name == "other"`],
        ]),
      },
    } as KubeObject);
  }

  addKeeper(i: number): void {
    const dice = this.#dice;
    const followed = dice.pick(
      this.objects.filter(({ kind }) => kind === 'VolumeCaptureRequest' || kind === 'ConfigMap'),
    );
    // Most are younger than the CRDs: a keeper older than the CRD cannot know whether its object is gone.
    const born = dice.chance(0.3) ? {} : { creationTimestamp: formatTime(this.#now) };
    const { namespace: _, ...metadata } = this.#meta(`keeper${i}`, { finalizers: [], ...born });
    const mode = followed === undefined ? 'TTL' : dice.pick(['TTL', 'FollowObject', 'FollowObjectWithTTL']);
    const { apiVersion = '', kind = '' } = followed ?? {};
    const { namespace = '', name = '', uid = '' } = followed?.metadata ?? {};
    this.objects.push({
      apiVersion: 'deckhouse.io/v1alpha1',
      kind: 'ObjectKeeper',
      metadata,
      spec: {
        mode,
        ...(mode === 'FollowObject' ? {} : { ttl: `${dice.below(90)}m` }),
        ...(mode === 'TTL' ? {} : { followObjectRef: { apiVersion, kind, namespace, name, uid } }),
      },
    } as KubeObject);
  }

  /** Owners of the same namespace, or cluster-scoped ones; sometimes two, sometimes in a cycle. */
  drawOwners(): void {
    const dice = this.#dice;
    const owned = this.objects.filter(({ kind }) => ['Job', 'Pod', 'ConfigMap'].includes(kind));
    for (const object of owned) {
      if (dice.chance(this.#crowded ? 0.2 : 0.6)) continue;
      const { namespace, uid } = object.metadata;
      const owners = this.objects.filter(
        ({ kind, metadata }) =>
          OWNERS.has(kind) &&
          metadata.uid !== uid &&
          (metadata.namespace === undefined || metadata.namespace === namespace),
      );
      const references: OwnerReference[] = [];
      for (let i = 0; i < 1 + dice.below(2) && owners.length > 0; i++)
        references.push(this.#reference(dice.pick(owners)));
      if (references.length > 0) object.metadata.ownerReferences = references;
    }
  }

  #reference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
    const block = this.#dice.chance(0.5) ? { blockOwnerDeletion: true } : {};
    return { apiVersion, kind, name: metadata.name!, uid: metadata.uid!, ...block };
  }
}

const OWNERS: ReadonlySet<string> = new Set(['Job', 'ConfigMap', 'ObjectKeeper', 'VolumeCaptureRequest']);
