// Waits for a control plane that has just been started.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Supervised } from './processes.ts';

const READY_WITHIN_MS = 90_000;
const POLL_MS = 100;

type Get = (path: string) => Promise<unknown>;

/** Ready means: every readiness check passes (the RBAC roles exist) and the default namespace exists. */
export async function waitUntilReady(get: Get, children: Supervised[]): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const dead = children.find((child) => !child.isRunning());
    if (dead) throw new Error(`${dead.name} ended while starting; its last lines:\n${dead.tail()}`);
    const problem = await problemOf(get('/readyz').then(() => get('/api/v1/namespaces/default')));
    if (!problem) return;
    if (Date.now() > deadline) {
      const logs = children.map((child) => `${child.name}:\n${child.tail()}`).join('\n');
      throw new Error(`the API server is not ready after ${READY_WITHIN_MS} ms: ${problem}\n${logs}`);
    }
    await sleep(POLL_MS);
  }
}

async function problemOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
