// Test fixture: candidates on one embedded server. Each has its own clock, which can be set or frozen, and a connection
// that can fail.

import { type ApiServer, createServer } from '@lapse/apiserver/server';
import type { Cancel, Clock } from '@lapse/base/clock';
import { type Instant, instant, type Millis, millis, plus } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { sleep } from '@lapse/base/sleep';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { Registry } from '../metrics/registry.ts';
import { LeaseElector } from './elector.ts';
import { Lease } from './lease.ts';

/** The clock of one process. Its wall clock can be wrong. While frozen, its timers do not fire. */
export class OwnClock implements Clock {
  readonly #base: Clock;
  #offset = 0;
  #frozen: (() => void)[] | undefined;

  constructor(baseClock: Clock) {
    this.#base = baseClock;
  }
  now(): Instant {
    return plus(this.#base.now(), millis(this.#offset));
  }
  elapsed(): Millis {
    return this.#base.elapsed();
  }
  wakeAt(at: Instant, fn: () => void): Cancel {
    let cancelled = false;
    const check = () => {
      if (cancelled) return;
      if (this.#frozen !== undefined) this.#frozen.push(check);
      else if (this.now() < at) cancel = this.#base.wakeAt(instant(at - this.#offset), check);
      else fn();
    };
    let cancel = this.#base.wakeAt(instant(at - this.#offset), check);
    return () => {
      cancelled = true;
      cancel();
    };
  }
  set(by: Millis): void {
    this.#offset += by;
  }
  freeze(): void {
    this.#frozen ??= [];
  }
  thaw(): void {
    const late = this.#frozen ?? [];
    this.#frozen = undefined;
    for (const fn of late) fn();
  }
}

export interface Candidate {
  readonly name: string;
  readonly elector: LeaseElector;
  readonly clock: OwnClock;
  readonly log: string[];
  /** `hang`: no response; `lose`: handled, response lost; `refuse`: 500; `slow`: handled, response after 4 s. */
  connection: 'good' | 'hang' | 'lose' | 'refuse' | 'slow';
}

const KEY = { namespace: 'default', name: 'lapse' };

export class Race {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly candidates: Candidate[] = [];
  readonly #seed: number;
  readonly user;

  constructor(server: ApiServer, clock: VirtualClock, seed: number) {
    this.server = server;
    this.clock = clock;
    this.#seed = seed;
    this.user = createClient({
      transport: inProcessTransport(server.handle),
      clock,
      random: seededRandom(1),
      flow: 'none',
    });
  }

  join(name: string): Candidate {
    const clock = new OwnClock(this.clock);
    const random = seededRandom(this.#seed + this.candidates.length);
    const log: string[] = [];
    const candidate: { connection: Candidate['connection'] } = { connection: 'good' };
    const transport = inProcessTransport(async (request) => {
      if (candidate.connection === 'hang') return new Promise(() => {});
      if (candidate.connection === 'refuse') return { status: 500, headers: {}, body: new Uint8Array() };
      const answer = await this.server.handle(request);
      if (candidate.connection === 'slow') await sleep(this.clock, millis(4000));
      if (candidate.connection === 'lose') throw new Error('lost');
      return answer;
    });
    const elector = new LeaseElector({
      client: createClient({ transport, clock, random, flow: 'none' }),
      clock,
      random,
      log: silentLog,
      registry: new Registry(),
      identity: name,
      lease: KEY,
    });
    const at = () => (this.clock.elapsed() / 1000).toFixed(1);
    elector.start({ gained: () => log.push(`${at()} gained`), lost: () => log.push(`${at()} lost`) });
    const made = Object.assign(candidate, { name, elector, clock, log }) as Candidate;
    this.candidates.push(made);
    return made;
  }

  leaders = (): string[] =>
    this.candidates.filter(({ elector }) => elector.isValid()).map(({ name }) => name);
  record = () => this.user.get(Lease, KEY);
  readonly settle = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await nextTurn();
  };
  pass = (length: number, check: () => void = () => {}): Promise<void> =>
    this.clock.advance(millis(length), async () => {
      await this.settle();
      check();
    });

  async close(): Promise<void> {
    for (const { elector, clock } of this.candidates) {
      clock.thaw();
      void elector.stop();
    }
    await this.pass(30_000);
    await this.server.close();
  }
}

export async function race(seed = 1): Promise<Race> {
  const clock = new VirtualClock();
  return new Race(await createServer({ clock, random: seededRandom(5) }), clock, seed);
}
