// One API server for all rounds, and the order of a round: first the data, then the observer, then the contender.

import { type Bed, startBed } from '../../test/kube/bed/bed.ts';
import { type Contender, lapse, type Running, start } from './contenders.ts';
import { removeAll } from './jobs.ts';
import { Load } from './load.ts';
import { Observer } from './observer.ts';
import { cpuOf, type Requests, requestsSoFar, serverPid, since } from './usage.ts';

export class Arena {
  readonly bed: Bed;
  readonly load: Load;
  readonly lapse: Contender;

  constructor(bed: Bed, built: boolean) {
    this.bed = bed;
    this.lapse = lapse(built);
    this.load = new Load(bed);
  }

  static async open(built: boolean): Promise<Arena> {
    // Without the garbage collector a foreground DELETE removes a Job at once: only the TTL controllers are measured.
    return new Arena(await startBed({ extraApiserverArgs: ['--enable-garbage-collector=false'] }), built);
  }

  async close(): Promise<void> {
    await this.load.close();
    await this.bed.stop();
  }

  /** Runs one contender, and removes what it leaves behind. */
  async round<R>(contender: Contender, body: (round: Round) => Promise<R>, keepData = false): Promise<R> {
    const observer = await Observer.open(this.load);
    const round = new Round(this, contender, observer);
    try {
      return await body(round);
    } finally {
      await round.stop();
      observer.close();
      if (!keepData) await removeAll(this.load);
    }
  }
}

export interface Cost {
  /** Seconds of CPU. */
  readonly controller: number;
  readonly server: number;
  readonly requests: Requests;
}

export class Round {
  readonly observer: Observer;
  readonly load: Load;
  readonly #arena: Arena;
  readonly #contender: Contender;
  #running: Running | undefined;
  #server = 0;
  #requests: Requests = {};

  constructor(arena: Arena, contender: Contender, observer: Observer) {
    this.#arena = arena;
    this.#contender = contender;
    this.observer = observer;
    this.load = arena.load;
  }

  /** Starts the contender; costs count from here. */
  async start(): Promise<Running> {
    this.#requests = await requestsSoFar(this.load);
    this.#server = cpuOf(serverPid(this.#arena.bed));
    this.#running = await start(this.#contender, this.#arena.bed);
    return this.#running;
  }

  async cost(): Promise<Cost> {
    const running = this.#running;
    if (running === undefined) throw new Error('nobody is running');
    const controller = cpuOf(running.pid);
    const server = cpuOf(serverPid(this.#arena.bed)) - this.#server;
    return { controller, server, requests: since(await requestsSoFar(this.load), this.#requests) };
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  /** The last output of the contender, for an error message. */
  tail(): string {
    return this.#running?.tail() ?? '';
  }
}
