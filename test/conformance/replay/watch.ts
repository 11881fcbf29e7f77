// A watch: opens the stream, runs the steps that happen meanwhile, and collects events until there are enough, the
// server closes, or the time is up. In every case the steps are finished (except when the time is up).

import type { Clock } from '@lapse/base/clock';
import { millis, plus } from '@lapse/base/instant';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { isObject, type Json } from '@lapse/kube/api/json';
import { headersOf, parseJson, pause, readAnswer } from './exchange.ts';
import type { ClosedBy, Target, WatchAction, WatchedEvent, WireResponse } from './types.ts';

const DEFAULT_SECONDS = 15;
// The head of the answer can arrive before the watch is registered, so the steps begin a moment later.
const SETTLE_MS = 30;

export interface WatchRun {
  readonly request: HttpRequest;
  readonly action: WatchAction;
  readonly target: Target;
  readonly clock: Clock;
  /** The steps to run while the watch is open. */
  readonly meanwhile: (() => Promise<void>) | undefined;
}

export async function watch(run: WatchRun): Promise<WireResponse> {
  const closing = new AbortController();
  const response = await run.target.request({ ...run.request, signal: closing.signal });
  if (response.status !== 200) return readAnswer(response);
  const collector = new Collector(run.action.until ?? Number.POSITIVE_INFINITY);
  const seconds = run.action.timeoutSeconds ?? DEFAULT_SECONDS;
  let cancel = () => {};
  const timeUp = new Promise<'timeUp'>((resolve) => {
    cancel = run.clock.wakeAt(plus(run.clock.now(), millis(seconds * 1000)), () => resolve('timeUp'));
  });
  try {
    const collected = collector.collect(response);
    const both = Promise.all([collected, runMeanwhile(run)]).then(([who]) => who);
    const first = await Promise.race([both, timeUp]);
    const closedBy: ClosedBy = first === 'timeUp' ? 'client' : first;
    return {
      status: 200,
      headers: headersOf(response),
      body: undefined,
      events: [...collector.events],
      closedBy,
    };
  } finally {
    cancel();
    closing.abort();
  }
}

async function runMeanwhile({ meanwhile, clock }: WatchRun): Promise<void> {
  if (meanwhile === undefined) return;
  await pause(clock, SETTLE_MS);
  await meanwhile();
}

class Collector {
  readonly events: WatchedEvent[] = [];
  private rest = '';
  private readonly limit: number;
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Reads until the limit is reached (`client`) or the stream ends or breaks (`server`). */
  async collect(response: HttpResponse): Promise<ClosedBy> {
    const decoder = new TextDecoder();
    const chunks = response.body instanceof Uint8Array ? [response.body] : response.body;
    try {
      for await (const chunk of chunks) {
        this.take(decoder.decode(chunk, { stream: true }));
        if (this.events.length >= this.limit) return 'client';
      }
    } catch {
      // A broken stream is an ended one.
    }
    const last = parseJson(this.rest, undefined);
    if (last !== undefined) this.events.push(toEvent(last));
    return 'server';
  }

  private take(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!;
    for (const line of lines) {
      if (line.trim() === '' || this.events.length >= this.limit) continue;
      this.events.push(toEvent(parseJson(line, { type: 'UNREADABLE', object: line })));
    }
  }
}

const toEvent = (line: Json): WatchedEvent =>
  isObject(line) ? { type: String(line.type), object: line.object } : { type: 'UNREADABLE', object: line };
