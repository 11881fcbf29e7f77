// Maintains APIService objects for the group versions that this server serves itself. They are stored like other
// objects, so clients can list and watch them. APIServices of aggregated servers are handled in aggregation/.

import { formatTime } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { localPriority } from '../aggregation/priorities.ts';
import { API_SERVICES, REGISTRATION_GROUP } from '../aggregation/registration.ts';
import type { Core } from '../context.ts';
import { RevisionMismatch } from '../store/store.ts';

const AUTO_MANAGED = 'kube-aggregator.kubernetes.io/automanaged';

export class ApiServices {
  readonly #core: Core;
  #stopListening: (() => void)[] = [];
  #publishing: Promise<void> | undefined;
  #again = false;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Resolves when all served group versions are published; later changes are published automatically. */
  async start(): Promise<void> {
    await this.#publish();
    this.#stopListening = [
      this.#core.registry.listen(() => this.#schedule()),
      // Restores a deleted APIService.
      this.#core.store.listen((change) => {
        if (change.resource === API_SERVICES && !change.next) this.#schedule();
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
    // Many resources change together: publish once for all of them.
    await Promise.resolve();
    while (this.#again) {
      this.#again = false;
      // Every client that writes sees the store error; publishing is retried with the next change.
      await this.#publish().catch(() => {});
    }
    this.#publishing = undefined;
  }

  async #publish(): Promise<void> {
    const { registry, store } = this.#core;
    const wanted = new Map<string, KubeObject>();
    for (const { group, versions } of registry.groups()) {
      // The registration group itself has no APIService.
      if (group === REGISTRATION_GROUP) continue;
      for (const version of versions) wanted.set(`${version}.${group}`, this.#describe(group, version));
    }
    const writes: Promise<unknown>[] = [];
    for (const { key, object, revision } of [...store.view(API_SERVICES)!.entries('')]) {
      const isOurs = object.metadata.labels?.[AUTO_MANAGED] !== undefined;
      if (isOurs && !wanted.has(key)) writes.push(attempt(() => store.remove(API_SERVICES, key, revision)));
      wanted.delete(key);
    }
    for (const [key, object] of wanted) writes.push(attempt(() => store.put(API_SERVICES, key, 0, object)));
    await Promise.all(writes);
  }

  #describe(group: string, version: string): KubeObject {
    const { clock, random, registry } = this.#core;
    const now = formatTime(clock.now());
    const custom = registry.isCustomGroup(group);
    const [groupPriorityMinimum, versionPriority] = localPriority(group, version);
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

/** Ignores a lost race: the other write triggers another publish. */
async function attempt(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    if (!(cause instanceof RevisionMismatch)) throw cause;
  }
}
