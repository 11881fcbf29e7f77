// Reads CustomResourceDefinitions from the API server. Concurrent callers share a read, for when thousands of objects are
// deleted at once. A returned CRD was always read after the call.

import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';

type Reading = Promise<CustomResourceDefinition | undefined>;

export class CrdReader {
  readonly #running = new Map<string, Reading>();
  readonly #next = new Map<string, Reading>();
  /** By name, the uid of the CRD when an object of its kind was first seen. */
  readonly #first = new Map<string, string | undefined>();

  get(client: Client, name: string): Reading {
    const running = this.#running.get(name);
    if (running === undefined) return this.#start(client, name);
    // The running read started before this call. The next one serves all callers that arrive until then.
    const waiting = this.#next.get(name);
    if (waiting !== undefined) return waiting;
    const next = running
      .catch(() => undefined)
      .then(() => {
        this.#next.delete(name);
        return this.#start(client, name);
      });
    this.#next.set(name, next);
    return next;
  }

  /** An object of this kind exists: remembers the uid of its CRD, once. */
  async note(client: Client, name: string): Promise<void> {
    if (this.#first.has(name)) return;
    const crd = await this.get(client, name);
    if (!this.#first.has(name)) this.#first.set(name, crd?.metadata.uid);
  }

  /** Whether this process saw a different CRD of this name before. */
  isAnother(crd: CustomResourceDefinition): boolean {
    const first = this.#first.get(crd.metadata.name ?? '');
    return first !== undefined && first !== crd.metadata.uid;
  }

  #start(client: Client, name: string): Reading {
    const reading = client.get(CustomResourceDefinition, { name }).finally(() => {
      if (this.#running.get(name) === reading) this.#running.delete(name);
    });
    this.#running.set(name, reading);
    return reading;
  }
}
