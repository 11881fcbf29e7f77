// What is waited for, what is due and what has ended, by controller: for the live view, and for the summary at the end.

import type { Clock } from '#base/clock';
import { type Instant, isDue, type Millis, minus } from '#base/instant';
import { parseKeyText } from '#runtime/interner';
import type { PassRecord } from '#runtime/worker';
import type { Change } from '#sim/history';
import { refText } from '#sim/refs';
import { lengthText } from '#sim/timeline';
import type { Deed } from '../attribution.ts';

export interface Waiting {
  readonly ref: string;
  readonly at: Instant;
  readonly why: string;
}

export interface Ended {
  readonly ref: string;
  readonly at: Instant;
  readonly by: string;
}

/** A controller that waits for something, or has done something. */
export interface Standing {
  readonly controller: string;
  readonly waiting: number;
  /** Of those: the time has come. */
  readonly due: number;
  readonly ended: number;
  readonly failed: number;
  readonly next?: Waiting;
}

export interface Overview {
  readonly start: Instant;
  readonly now: Instant;
  readonly standings: readonly Standing[];
  /** The latest first. */
  readonly justEnded: readonly Ended[];
}

export interface TallyOptions {
  readonly clock: Clock;
  /** How the keys of a controller are called. */
  readonly kindOf?: (controller: string) => { readonly kind: string } | undefined;
  /** Who asked for an end. */
  readonly deedOf?: (change: Change) => Deed | undefined;
}

const KEPT = 20;
/** Ends that no pass asked for by itself. */
const NOBODY = 'lapse';

interface Book {
  readonly waits: Map<string, Waiting>;
  ended: number;
  failed: number;
}

export class Tally {
  readonly #options: TallyOptions;
  readonly #start: Instant;
  readonly #books = new Map<string, Book>();
  #latest: Ended[] = [];

  constructor(options: TallyOptions) {
    this.#options = options;
    this.#start = options.clock.now();
  }

  pass({ controller, key, outcome }: PassRecord & { readonly controller: string }): void {
    const book = this.#book(controller);
    if (outcome.kind === 'waitUntil') {
      const kind = this.#options.kindOf?.(controller)?.kind ?? controller;
      book.waits.set(key, { ref: refText(kind, parseKeyText(key)), at: outcome.at, why: outcome.why });
    } else book.waits.delete(key);
    if (outcome.kind === 'failed') book.failed++;
  }

  /** Once per object: when its deletion was accepted. */
  change(change: Change): void {
    const { before, after, by, namespace, name } = change;
    const was = before?.metadata.deletionTimestamp !== undefined;
    const is = after === undefined || after.metadata.deletionTimestamp !== undefined;
    if (by !== 'process' || !is || was) return;
    const controller = this.#options.deedOf?.(change)?.controller ?? NOBODY;
    this.#book(controller).ended++;
    const ref = refText(change.kind, namespace === undefined ? { name } : { namespace, name });
    this.#latest = [{ ref, at: change.at, by: controller }, ...this.#latest.slice(0, KEPT - 1)];
  }

  overview(): Overview {
    const now = this.#options.clock.now();
    const standings = [...this.#books]
      .map(([controller, book]) => standingOf(controller, book, now))
      .filter(({ waiting, ended, failed }) => waiting + ended + failed > 0)
      .sort((a, b) => (a.controller < b.controller ? -1 : 1));
    return { start: this.#start, now, standings, justEnded: this.#latest };
  }

  /** In a line, and a line per controller that ended something. */
  text(stamp: (at: Instant) => string): string {
    const { standings, now } = this.overview();
    const length = lengthText((Math.floor(minus(now, this.#start) / 1000) * 1000) as Millis);
    const sum = (of: (standing: Standing) => number) => standings.reduce((all, one) => all + of(one), 0);
    const next = standings
      .flatMap((standing) => (standing.next === undefined ? [] : [standing.next]))
      .sort((a, b) => a.at - b.at)[0];
    const waiting = next === undefined ? '' : ` (next: ${next.ref} at ${stamp(next.at)})`;
    const failed = sum((one) => one.failed);
    const failures = failed === 0 ? '' : `, ${failed} failed attempts`;
    const head = `in ${length}: ${sum((one) => one.ended)} ended, ${sum((one) => one.waiting)} waiting${waiting}${failures}`;
    const rows = standings
      .filter(({ ended }) => ended > 0)
      .map(({ controller, ended }) => `  ${controller.padEnd(24)} ${ended} ended`);
    return [head, ...rows].join('\n');
  }

  #book(controller: string): Book {
    let book = this.#books.get(controller);
    if (book === undefined) {
      book = { waits: new Map(), ended: 0, failed: 0 };
      this.#books.set(controller, book);
    }
    return book;
  }
}

function standingOf(controller: string, { waits, ended, failed }: Book, now: Instant): Standing {
  let due = 0;
  let next: Waiting | undefined;
  for (const wait of waits.values()) {
    if (isDue(wait.at, now)) due++;
    if (next === undefined || wait.at < next.at) next = wait;
  }
  return { controller, waiting: waits.size, due, ended, failed, ...(next === undefined ? {} : { next }) };
}
