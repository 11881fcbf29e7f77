// Opens hosts on loopback for tests, and closes them after each test.

import { afterEach } from 'vitest';
import { type Host, type HostOptions, listen, text } from './listen.ts';

/** Called after each test, in reverse order. */
export const cleanup: (() => Promise<unknown> | unknown)[] = [];

export function closeHostsAfterEach(): void {
  afterEach(async () => {
    for (const undo of cleanup.splice(0).reverse()) await undo();
  });
}

export async function openHost(options: Partial<HostOptions>): Promise<Host> {
  const host = await listen({
    handle: async () => text(200, 'hi\n'),
    port: 0,
    address: '127.0.0.1',
    ...options,
  });
  cleanup.push(() => host.close());
  return host;
}
