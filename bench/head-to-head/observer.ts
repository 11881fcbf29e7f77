// What happened according to the API server, and when it was observed: one watch on all Jobs, the same for every
// contender.

import { ALL_JOBS } from './jobs.ts';
import type { Load } from './load.ts';

export interface Deleted {
  readonly name: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly at: number;
  /** From the object at its deletion. */
  readonly ttl: number | undefined;
}

export const wallClock = (): number => performance.timeOrigin + performance.now();

/** `{"type":"DELETED","object":{…"metadata":{"name":"x"…`: the first name is the object's. */
const NAME = /"metadata":\{"name":"([^"]+)"/;
const VERSION = /"resourceVersion":"(\d+)"/;
const TTL = /"ttlSecondsAfterFinished":(\d+)/;

export class Observer {
  readonly deleted = new Map<string, Deleted>();
  #version = '';
  #close: () => void = () => {};
  #waiting: { isEnough: () => boolean; resolve: () => void }[] = [];

  static async open(load: Load): Promise<Observer> {
    const observer = new Observer();
    const list = JSON.parse((await load.call('GET', `${ALL_JOBS}?limit=1`)).toString()) as {
      metadata: { resourceVersion: string };
    };
    observer.#version = list.metadata.resourceVersion;
    await observer.#watch(load);
    return observer;
  }

  /** Resumes from the last observed event; a server may end a watch at any time. */
  async #watch(load: Load): Promise<void> {
    const path = `${ALL_JOBS}?watch=1&resourceVersion=${this.#version}`;
    const hear = (line: string) => this.#hear(line);
    this.#close = await load.watch(path, hear, () => void this.#watch(load));
  }

  close(): void {
    this.#close();
  }

  /** Waits until there are enough, or the time is up; returns whether there were enough. */
  async until(isEnough: () => boolean, limitMs: number): Promise<boolean> {
    if (isEnough()) return true;
    const enough = Promise.withResolvers<void>();
    this.#waiting.push({ isEnough, resolve: enough.resolve });
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, limitMs);
    await Promise.race([enough.promise, over.promise]);
    clearTimeout(timer);
    return isEnough();
  }

  #hear(line: string): void {
    if (line.startsWith('{"type":"ERROR"')) throw new Error(`the watch broke: ${line}`);
    this.#version = VERSION.exec(line)?.[1] ?? this.#version;
    if (!line.startsWith('{"type":"DELETED"')) return;
    const name = NAME.exec(line)?.[1];
    if (name === undefined) return;
    const ttl = TTL.exec(line)?.[1];
    this.deleted.set(name, { name, at: wallClock(), ttl: ttl === undefined ? undefined : Number(ttl) });
    this.#waiting = this.#waiting.filter(({ isEnough, resolve }) => {
      if (!isEnough()) return true;
      resolve();
      return false;
    });
  }
}
