// Definitions of kinds, read live and together: when thousands of objects end at once, they share the reads. What is
// given was always read after it was asked for.

import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';

type Reading = Promise<CustomResourceDefinition | undefined>;

export class Definitions {
  readonly #running = new Map<string, Reading>();
  readonly #next = new Map<string, Reading>();
  /** By name, the uid of the definition that was there when something of its kind was first seen. */
  readonly #first = new Map<string, string | undefined>();

  get(client: Client, name: string): Reading {
    const running = this.#running.get(name);
    if (running === undefined) return this.#start(client, name);
    // That one began before this question: the next one is for everybody who asks meanwhile.
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

  /** Something of this kind exists: which definition it has is remembered, once. */
  async note(client: Client, name: string): Promise<void> {
    if (this.#first.has(name)) return;
    const definition = await this.get(client, name);
    if (!this.#first.has(name)) this.#first.set(name, definition?.metadata.uid);
  }

  /** Whether another definition was there before, in the life of this process. */
  isAnother(definition: CustomResourceDefinition): boolean {
    const first = this.#first.get(definition.metadata.name ?? '');
    return first !== undefined && first !== definition.metadata.uid;
  }

  #start(client: Client, name: string): Reading {
    const reading = client.get(CustomResourceDefinition, { name }).finally(() => {
      if (this.#running.get(name) === reading) this.#running.delete(name);
    });
    this.#running.set(name, reading);
    return reading;
  }
}
