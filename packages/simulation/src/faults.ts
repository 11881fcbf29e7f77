// Faults between the process under test and the API server. Rules apply in the order in which they were added; each
// request is affected by at most one. By default there are no faults, and `heal` removes all of them.

import { type Millis, millis } from '@lapse/base/instant';
import { compileMatcher, type Matcher, type RequestInfo } from './requestInfo.ts';
import { Streams, type WatchBreak } from './streams.ts';

/** `after`: the server handles the request before the fault occurs. */
export type When = 'before' | 'after';

export type Fault =
  /** The server returns an error; `retryAfter` in seconds. */
  | {
      readonly answer: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
    }
  /** The connection breaks. The caller cannot know whether the server handled the request. */
  | { readonly drop: When }
  /** No response until the caller times out. */
  | { readonly hang: When }
  /** Delays the request or the response. */
  | { readonly delay: Millis; readonly when: When }
  /** The server receives the request twice; the caller gets the first response. */
  | { readonly duplicate: true }
  /** The connection cannot be opened; nothing is sent. */
  | { readonly unreachable: true };

export interface FaultOptions {
  /** How many requests are affected; default: 1. */
  readonly times?: number;
}

interface Rule {
  readonly matches: (request: RequestInfo) => boolean;
  readonly fault: Fault;
  left: number;
}

interface Hook {
  readonly matches: (request: RequestInfo) => boolean;
  readonly fn: (request: RequestInfo) => unknown;
  left: number;
}

export class Faults {
  readonly streams = new Streams();
  #rules: Rule[] = [];
  #hooks: Hook[] = [];
  #slow = millis(0);

  /** Injects a fault into matching requests. A number is the status code of the response. */
  answer(matcher: Matcher, fault: Fault | number, options: FaultOptions = {}): void {
    const made = typeof fault === 'number' ? { answer: fault } : fault;
    this.#rules.push({ matches: compileMatcher(matcher), fault: made, left: options.times ?? 1 });
  }

  /** Calls and awaits `fn` before the server receives a matching request. */
  justBefore(matcher: Matcher, fn: (request: RequestInfo) => unknown, options: FaultOptions = {}): void {
    this.#hooks.push({ matches: compileMatcher(matcher), fn, left: options.times ?? 1 });
  }

  /** Delays every request by this time; 0 disables the delay. */
  slowServer(delay: Millis): void {
    this.#slow = delay;
  }

  /** Makes the server unreachable and breaks all watches. */
  disconnect(): void {
    this.answer('*', { unreachable: true }, { times: Number.POSITIVE_INFINITY });
    this.streams.break('cut');
  }

  breakWatches(how: WatchBreak = 'end'): void {
    this.streams.break(how);
  }
  /** Holds watch events back, so that the caches of the process are stale. */
  holdEvents(): void {
    this.streams.hold();
  }
  releaseEvents(): void {
    this.streams.release();
  }
  /** Delivers every watch event twice. */
  duplicateEvents(on = true): void {
    this.streams.twice = on;
  }

  /** Removes all faults. Clock skew is not changed. */
  heal(): void {
    this.#rules = [];
    this.#hooks = [];
    this.#slow = millis(0);
    this.streams.twice = false;
    this.streams.release();
  }

  /** For wire.ts: the hooks that match this request. */
  takeHooks(request: RequestInfo): Hook['fn'][] {
    const met = this.#hooks.filter((hook) => hook.matches(request));
    for (const hook of met) hook.left--;
    this.#hooks = this.#hooks.filter(({ left }) => left > 0);
    return met.map(({ fn }) => fn);
  }

  /** For wire.ts: the fault that affects this request. */
  take(request: RequestInfo): Fault | undefined {
    const rule = this.#rules.find(({ matches }) => matches(request));
    if (rule === undefined) return this.#slow > 0 ? { delay: this.#slow, when: 'before' } : undefined;
    if (--rule.left <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
    return rule.fault;
  }
}
