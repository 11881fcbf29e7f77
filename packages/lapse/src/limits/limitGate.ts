// The limits of one rule in this process: hands out the deletions that are already counted in the status, and has the
// next block written when they are used up.

import { type Instant, instant, isDue } from '@lapse/base/instant';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { LimitsStatus } from '#api/limits';
import { reserve, type Situation } from './limit.ts';

export type LimitClaim =
  /** The deletion is counted. */
  | { readonly kind: 'go' }
  /** A block of deletions has to be reserved first. */
  | { readonly kind: 'reserve' }
  | { readonly kind: 'exceeded' };

/** `changed`: the stored state differs from the one that this process knows. */
export type Reserved = 'reserved' | 'exceeded' | 'changed';

export interface LimitWriter {
  readonly situation: Situation;
  /** Writes the state if the stored state is the one that this process knows; otherwise returns false. */
  write(state: LimitsStatus): Promise<boolean>;
  /** The newest state that this process has read. */
  read(): LimitsStatus;
}

export class LimitGate {
  #state: LimitsStatus;
  /** Deletions that are counted in the status and not sent yet. */
  #unused = 0;
  /** Until when they may be sent. */
  #until: Instant = instant(0);
  /** Uids of counted deletions whose result is not known: the next DELETE of the same object is not counted again. */
  readonly #open = new Set<string>();
  #writing: Promise<Reserved> | undefined;

  constructor(state: LimitsStatus) {
    this.#state = state;
  }

  get state(): LimitsStatus {
    return this.#state;
  }

  /** This state is stored now. */
  adopt(state: LimitsStatus): void {
    if (equal(state as JsonObject, this.#state as JsonObject)) return;
    this.#state = state;
    this.#drop();
  }

  /** Deletions that are counted and not sent stay counted. */
  #drop(): void {
    this.#unused = 0;
    this.#open.clear();
  }

  /** Whether the object `uid` may be deleted now. `isLimited`: whether the rule has limits. */
  claim(uid: string, now: Instant, isLimited: boolean): LimitClaim {
    if (this.#state.exceeded !== undefined) return { kind: 'exceeded' };
    // A rule without limits counts only the deletions of an approval.
    if (!isLimited && this.#state.approved === undefined) return { kind: 'go' };
    if (isDue(this.#until, now)) this.#drop();
    if (this.#open.has(uid)) return { kind: 'go' };
    if (this.#unused === 0) return { kind: 'reserve' };
    this.#unused--;
    this.#open.add(uid);
    return { kind: 'go' };
  }

  /** The result of a deletion for which `claim` returned `go`. Do not call it while the result is not known. */
  settle(uid: string, isSent: boolean): void {
    if (this.#open.delete(uid) && !isSent) this.#unused++;
  }

  /** Reserves the next block. Concurrent calls share one write. */
  reserve(writer: LimitWriter): Promise<Reserved> {
    this.#writing ??= this.#reserve(writer).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #reserve({ situation, write, read }: LimitWriter): Promise<Reserved> {
    const reservation = reserve(this.#state, situation);
    const open = [...this.#open];
    if (!(await write(reservation.state))) {
      this.#state = read();
      this.#drop();
      return 'changed';
    }
    this.#state = reservation.state;
    if (reservation.kind === 'exceeded') return 'exceeded';
    if (reservation.until !== this.#until) for (const uid of open) this.#open.delete(uid);
    this.#unused = reservation.count;
    this.#until = reservation.until;
    return 'reserved';
  }
}
