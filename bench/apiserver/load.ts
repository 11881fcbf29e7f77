// The same client and the same requests for every server: undici over TLS, a fixed number in flight.

import { Agent, request } from 'undici';
import type { BenchTarget } from './targets.ts';

const IN_FLIGHT = 32;

export class Load {
  readonly #target: BenchTarget;
  readonly #agent: Agent;
  readonly #watchAgent: Agent;

  constructor(target: BenchTarget) {
    this.#target = target;
    const connect = { ca: target.ca };
    this.#agent = new Agent({ connect, connections: IN_FLIGHT, keepAliveTimeout: 60_000 });
    this.#watchAgent = new Agent({ connect, bodyTimeout: 0, headersTimeout: 0 });
  }

  async call(method: string, path: string, body?: object): Promise<Buffer> {
    const response = await request(this.#target.url + path, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: {
        authorization: `Bearer ${this.#target.token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body), reset: false } : {}),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    if (response.statusCode >= 300)
      throw new Error(
        `${this.#target.name}: ${method} ${path}: ${response.statusCode} ${bytes.toString('utf8', 0, 300)}`,
      );
    return bytes;
  }

  /** Runs `count` requests, a fixed number at a time; requests per second. */
  async rate(count: number, one: (i: number) => Promise<unknown>): Promise<number> {
    let next = 0;
    const begin = performance.now();
    const lane = async () => {
      for (let i = next++; i < count; i = next++) await one(i);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    return (count * 1000) / (performance.now() - begin);
  }

  /** Opens a watch; `onLines` gets the number of events each chunk completed. Returns a function that closes it. */
  async watch(path: string, onLines: (n: number) => void): Promise<() => void> {
    const closing = new AbortController();
    const response = await request(this.#target.url + path, {
      dispatcher: this.#watchAgent,
      headers: { authorization: `Bearer ${this.#target.token}` },
      signal: closing.signal,
    });
    response.body.on('data', (chunk: Buffer) => {
      let lines = 0;
      for (let i = chunk.indexOf(10); i >= 0; i = chunk.indexOf(10, i + 1)) lines++;
      if (lines > 0) onLines(lines);
    });
    response.body.on('error', () => {});
    return () => closing.abort();
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#watchAgent.destroy()]);
  }
}
