// A minimal watcher: it lists, follows, resumes, and records what it receives. It trusts nothing and repairs nothing,
// so that every fault of the server or the connection becomes visible.

import type { Clock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { isExpired } from '@lapse/kube/client/errors';
import type { Heard } from './guarantees.ts';

export class Watcher {
  readonly heard: Heard[] = [];
  readonly namespace: string | undefined;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #version: string | undefined;

  constructor(client: Client, clock: Clock, namespace: string | undefined) {
    this.#client = client;
    this.#clock = clock;
    this.namespace = namespace;
  }

  async run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#version === undefined) await this.#list();
      else await this.#watch(this.#version);
      if (!signal.aborted) await sleep(this.#clock, seconds(1), signal);
    }
  }
  stop(): void {
    this.#stop.abort();
  }

  get #where(): { namespace?: string; signal: AbortSignal } {
    const { signal } = this.#stop;
    return this.namespace === undefined ? { signal } : { namespace: this.namespace, signal };
  }

  async #list(): Promise<void> {
    try {
      const { resourceVersion } = await this.#client.list(ConfigMap, this.#where);
      this.heard.push({ kind: 'listed', version: Number(resourceVersion) });
      this.#version = resourceVersion;
      await this.#watch(resourceVersion);
    } catch {
      // Refused or unanswered: the next attempt follows.
    }
  }

  async #watch(from: string): Promise<void> {
    if (this.heard.at(-1)?.kind !== 'listed') this.heard.push({ kind: 'resumed', version: Number(from) });
    for await (const event of this.#client.watch(ConfigMap, { ...this.#where, resourceVersion: from })) {
      if (this.#stop.signal.aborted) return;
      if (event.type === 'error') {
        if (isExpired(event.error)) this.#version = undefined;
        return;
      }
      if (event.type === 'bookmark') this.#hear({ kind: 'bookmark', version: Number(event.resourceVersion) });
      else {
        const { namespace = '', name = '', resourceVersion } = event.object.metadata;
        this.#hear({ kind: 'event', type: event.type, namespace, name, version: Number(resourceVersion) });
      }
    }
  }

  #hear(one: Heard): void {
    this.heard.push(one);
    this.#version = String(one.version);
  }
}
