// The APIService objects that tell who serves which group version: here always this server itself. They are stored
// like any object, so that they can be listed and watched, and follow what is served.

import type { KubeObject } from '#api/object';
import { formatTime } from '#base/instant';
import { uuid } from '#base/random';
import type { Core } from './context.ts';
import { RevisionMismatch } from './store/store.ts';

const TABLE = 'apiservices.apiregistration.k8s.io';
const AUTO_MANAGED = 'kube-aggregator.kubernetes.io/automanaged';

/** Order of groups in discovery, highest first, and of the versions in a group. */
const PRIORITIES: Readonly<Record<string, readonly [group: number, version: number]>> = {
  '': [18000, 1],
  apps: [17800, 15],
  'events.k8s.io': [17750, 15],
  'authentication.k8s.io': [17700, 15],
  'authorization.k8s.io': [17600, 15],
  batch: [17400, 15],
  'networking.k8s.io': [17200, 15],
  policy: [17100, 15],
  'rbac.authorization.k8s.io': [17000, 15],
  'storage.k8s.io': [16800, 15],
  'admissionregistration.k8s.io': [16700, 15],
  'apiextensions.k8s.io': [16700, 15],
  'coordination.k8s.io': [16500, 15],
  'discovery.k8s.io': [16200, 15],
};
const CUSTOM_PRIORITY = [1000, 100] as const;
// Nobody registers the group that the registrations are made in.
const UNLISTED = 'apiregistration.k8s.io';

export class ApiServices {
  readonly #core: Core;
  #stopListening: (() => void)[] = [];
  #publishing: Promise<void> | undefined;
  #again = false;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Resolves when everything that is served is listed; from then on changes follow by themselves. */
  async start(): Promise<void> {
    await this.#publish();
    this.#stopListening = [
      this.#core.registry.listen(() => this.#schedule()),
      // One that somebody deletes comes back.
      this.#core.store.listen((change) => {
        if (change.resource === TABLE && !change.next) this.#schedule();
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    this.#stopListening = [];
    this.#again = false;
    await this.#publishing;
  }

  #schedule(): void {
    this.#again = true;
    this.#publishing ??= this.#run();
  }

  async #run(): Promise<void> {
    // Many resources come and go together: let them, then look once.
    await Promise.resolve();
    while (this.#again) {
      this.#again = false;
      // A store that cannot write says so to everybody who writes; this list waits for the next change.
      await this.#publish().catch(() => {});
    }
    this.#publishing = undefined;
  }

  async #publish(): Promise<void> {
    const { registry, store } = this.#core;
    const wanted = new Map<string, KubeObject>();
    for (const { group, versions } of registry.groups()) {
      if (group === UNLISTED) continue;
      for (const version of versions) wanted.set(`${version}.${group}`, this.#describe(group, version));
    }
    const writes: Promise<unknown>[] = [];
    for (const { key, object, revision } of [...store.view(TABLE)!.entries('')]) {
      const isOurs = object.metadata.labels?.[AUTO_MANAGED] !== undefined;
      if (isOurs && !wanted.has(key)) writes.push(attempt(() => store.remove(TABLE, key, revision)));
      wanted.delete(key);
    }
    for (const [key, object] of wanted) writes.push(attempt(() => store.put(TABLE, key, 0, object)));
    await Promise.all(writes);
  }

  #describe(group: string, version: string): KubeObject {
    const { clock, random, registry } = this.#core;
    const now = formatTime(clock.now());
    const custom = registry.isCustomGroup(group);
    const [groupPriorityMinimum, versionPriority] = PRIORITIES[group] ?? CUSTOM_PRIORITY;
    return {
      kind: 'APIService',
      apiVersion: 'apiregistration.k8s.io/v1',
      metadata: {
        name: `${version}.${group}`,
        uid: uuid(random),
        creationTimestamp: now,
        labels: { [AUTO_MANAGED]: custom ? 'true' : 'onstart' },
      },
      spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum, versionPriority },
      status: {
        conditions: [
          {
            type: 'Available',
            status: 'True',
            lastTransitionTime: now,
            reason: 'Local',
            message: 'Local APIServices are always available',
          },
        ],
      },
    };
  }
}

/** Somebody else was faster: what they did is a change that will be looked at. */
async function attempt(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    if (!(cause instanceof RevisionMismatch)) throw cause;
  }
}
