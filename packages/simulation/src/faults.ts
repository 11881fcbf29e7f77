// What can go wrong between a process and the server. Rules are looked through in the order they were made; each request
// meets at most one of them. Everything is off until asked for, and `heal` ends all of it.

import { type Millis, millis } from '@lapse/base/instant';
import { compileMatcher, type Matcher, type SeenRequest } from './seen.ts';
import { Streams, type WatchBreak } from './streams.ts';

/** Whether the server carries the request out before it goes wrong. */
export type When = 'before' | 'after';

export type Fault =
  /** The server refuses; `retryAfter` in seconds. */
  | {
      readonly answer: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
    }
  /** The connection breaks: the caller cannot know whether it was carried out. */
  | { readonly drop: When }
  /** No answer, until the caller gives up. */
  | { readonly hang: When }
  /** It takes this long before it is carried out, or before the answer arrives. */
  | { readonly delay: Millis; readonly when: When }
  /** It arrives twice; the caller gets the first answer. */
  | { readonly duplicate: true }
  /** No connection at all: nothing was sent. */
  | { readonly unreachable: true };

export interface FaultOptions {
  /** How many requests it meets; 1 unless told. */
  readonly times?: number;
}

interface Rule {
  readonly matches: (request: SeenRequest) => boolean;
  readonly fault: Fault;
  left: number;
}

interface Hook {
  readonly matches: (request: SeenRequest) => boolean;
  readonly fn: (request: SeenRequest) => unknown;
  left: number;
}

export class Faults {
  readonly streams = new Streams();
  #rules: Rule[] = [];
  #hooks: Hook[] = [];
  #slow = millis(0);

  /** Requests that match go wrong this way. A number is the code the server answers with. */
  answer(matcher: Matcher, fault: Fault | number, options: FaultOptions = {}): void {
    const made = typeof fault === 'number' ? { answer: fault } : fault;
    this.#rules.push({ matches: compileMatcher(matcher), fault: made, left: options.times ?? 1 });
  }

  /** `fn` runs (and is awaited) when a request that matches is on its way, before the server sees it. */
  justBefore(matcher: Matcher, fn: (request: SeenRequest) => unknown, options: FaultOptions = {}): void {
    this.#hooks.push({ matches: compileMatcher(matcher), fn, left: options.times ?? 1 });
  }

  /** Every request takes this long; 0 ends it. */
  slowServer(delay: Millis): void {
    this.#slow = delay;
  }

  /** Nothing gets through, watches end. */
  disconnect(): void {
    this.answer('*', { unreachable: true }, { times: Number.POSITIVE_INFINITY });
    this.streams.break('cut');
  }

  breakWatches(how: WatchBreak = 'end'): void {
    this.streams.break(how);
  }
  /** Events are under way and do not arrive: the caches of the process are stale. */
  holdEvents(): void {
    this.streams.hold();
  }
  releaseEvents(): void {
    this.streams.release();
  }
  /** Events arrive twice. */
  duplicateEvents(on = true): void {
    this.streams.twice = on;
  }

  /** Everything that was asked for is over. Clocks stay as they are. */
  heal(): void {
    this.#rules = [];
    this.#hooks = [];
    this.#slow = millis(0);
    this.streams.twice = false;
    this.streams.release();
  }

  /** For the wire: the hooks this request meets. */
  takeHooks(request: SeenRequest): Hook['fn'][] {
    const met = this.#hooks.filter((hook) => hook.matches(request));
    for (const hook of met) hook.left--;
    this.#hooks = this.#hooks.filter(({ left }) => left > 0);
    return met.map(({ fn }) => fn);
  }

  /** For the wire: the fault this request meets. */
  take(request: SeenRequest): Fault | undefined {
    const rule = this.#rules.find(({ matches }) => matches(request));
    if (rule === undefined) return this.#slow > 0 ? { delay: this.#slow, when: 'before' } : undefined;
    if (--rule.left <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
    return rule.fault;
  }
}
