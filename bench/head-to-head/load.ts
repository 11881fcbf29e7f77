// The client of the benchmark: all requests as the same administrator, with a fixed number in flight.

import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import type { Bed } from '../../test/kube/bed/bed.ts';

const IN_FLIGHT = 32;

export class Load {
  readonly #bed: Bed;
  readonly #agent: Agent;
  readonly #watchAgent: Agent;

  constructor(bed: Bed) {
    this.#bed = bed;
    const connect = { ca: readFileSync(bed.caFile, 'utf8') };
    this.#agent = new Agent({ connect, connections: IN_FLIGHT, keepAliveTimeout: 60_000 });
    this.#watchAgent = new Agent({ connect, bodyTimeout: 0, headersTimeout: 0 });
  }

  async call(method: string, path: string, body?: object, type = 'application/json'): Promise<Buffer> {
    const { status, bytes } = await this.#send(method, path, body, type);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${bytes.toString('utf8', 0, 300)}`);
    return bytes;
  }

  patch(path: string, body: object): Promise<Buffer> {
    return this.call('PATCH', path, body, 'application/merge-patch+json');
  }

  /** The status code of the answer. */
  async tryPatch(path: string, body: object): Promise<number> {
    return (await this.#send('PATCH', path, body, 'application/merge-patch+json')).status;
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

  /**
   * Opens a watch; `onLine` gets each event as it arrives, `onEnd` is called when no more follow. Returns a function
   * that closes it.
   */
  async watch(path: string, onLine: (line: string) => void, onEnd: () => void): Promise<() => void> {
    const closing = new AbortController();
    const response = await request(this.#bed.url + path, {
      dispatcher: this.#watchAgent,
      headers: { authorization: `Bearer ${this.#bed.adminToken}` },
      signal: closing.signal,
    });
    let rest = '';
    response.body.setEncoding('utf8');
    response.body.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) onLine(line);
    });
    response.body.on('error', () => {});
    response.body.on('close', () => {
      if (!closing.signal.aborted) onEnd();
    });
    return () => closing.abort();
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#watchAgent.destroy()]);
  }

  async #send(
    method: string,
    path: string,
    body: object | undefined,
    type: string,
  ): Promise<{ status: number; bytes: Buffer }> {
    const response = await request(this.#bed.url + path, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: {
        authorization: `Bearer ${this.#bed.adminToken}`,
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body), reset: false }),
    });
    return { status: response.statusCode, bytes: Buffer.from(await response.body.arrayBuffer()) };
  }
}
