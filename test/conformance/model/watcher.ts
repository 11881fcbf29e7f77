// A watcher that can be disconnected and resume: it must see every change once, in order, whatever happens to its
// streams.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { buildRequest, parseJson } from '../replay/exchange.ts';
import type { Target } from '../replay/types.ts';
import { type Kind, toItem } from './kinds.ts';
import { type ExpectedEvent, eventFor, type Selector, sameContent, type World } from './world.ts';

interface Event {
  readonly type: string;
  readonly object: JsonObject;
}

export interface Start {
  readonly target: Target;
  readonly kind: Kind;
  readonly path: string;
  readonly selector: Selector;
  /** The position in the history, and the version, at which the watch begins. */
  readonly position: number;
  readonly version: string;
  readonly patienceMs: number;
}

export class Watcher {
  private readonly at: Start;
  /** Everything before this position in the history has been seen. */
  private position: number;
  private lastVersion: string;
  private stream: EventStream | undefined;

  constructor(at: Start) {
    this.at = at;
    this.position = at.position;
    this.lastVersion = at.version;
  }

  async connect(): Promise<void> {
    const { query } = this.at.selector;
    const watch = `${this.at.path}?watch=true&resourceVersion=${this.lastVersion}${query === '' ? '' : `&${query}`}`;
    this.stream = await EventStream.open(this.at.target, watch);
  }

  /** Drops the connection with all pending events, and resumes from the last version seen. */
  async reconnect(): Promise<void> {
    this.close();
    await this.connect();
  }

  close(): void {
    this.stream?.close();
  }

  /** Reads the events of every change so far and compares each. */
  async catchUp(world: World): Promise<void> {
    for (; this.position < world.history.length; this.position++) {
      const expected = eventFor(world.history[this.position]!, this.at.selector);
      if (expected !== undefined) await this.expectNext(expected);
    }
  }

  private async expectNext(expected: ExpectedEvent): Promise<void> {
    const label = `watcher [${this.at.selector.query}] after ${this.lastVersion}`;
    const event = await this.stream!.next(this.at.patienceMs);
    if (event === undefined) throw new Error(`${label}: expected ${describe(expected)}, got nothing`);
    const item = toItem(this.at.kind, event.object);
    const fits =
      event.type === expected.type &&
      item.name === expected.item.name &&
      item.uid === expected.item.uid &&
      (expected.type === 'DELETED' || (item.rv === expected.item.rv && sameContent(item, expected.item)));
    if (!fits) throw new Error(`${label}: expected ${describe(expected)}, got ${JSON.stringify(event)}`);
    if (BigInt(item.rv) <= BigInt(this.lastVersion)) throw new Error(`${label}: went back to ${item.rv}`);
    this.lastVersion = item.rv;
  }
}

const describe = ({ type, item }: ExpectedEvent) => `${type} ${JSON.stringify(item)}`;

class EventStream {
  private readonly lines: AsyncIterator<Event>;
  private readonly closing: AbortController;

  private constructor(lines: AsyncIterator<Event>, closing: AbortController) {
    this.lines = lines;
    this.closing = closing;
  }

  static async open(target: Target, path: string): Promise<EventStream> {
    const closing = new AbortController();
    const request = buildRequest({ watch: path }, {}, target);
    const response = await target.request({ ...request, signal: closing.signal });
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status}`);
    if (response.body instanceof Uint8Array) throw new Error(`GET ${path}: not a stream`);
    return new EventStream(decode(response.body), closing);
  }

  async next(patienceMs: number): Promise<Event | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), patienceMs);
    });
    const next = this.lines.next().then(({ value, done }) => (done ? undefined : value));
    try {
      return await Promise.race([next, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.closing.abort();
  }
}

async function* decode(body: AsyncIterable<Uint8Array>): AsyncGenerator<Event, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop()!;
      for (const line of lines) yield toEvent(parseJson(line, null));
    }
  } catch {
    // A cut connection is an ended stream.
  }
  return undefined;
}

function toEvent(line: Json): Event {
  if (!isObject(line) || !isObject(line.object)) throw new Error(`not an event: ${JSON.stringify(line)}`);
  return { type: String(line.type), object: line.object };
}
