// One builder at a time: a lock file that holds the owner's process id, so that the lock of a dead process is taken
// over.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;

export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!tryLock(path)) await sleep(POLL_MS);
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!ownerIsAlive(path)) rmSync(path, { force: true });
    return false;
  }
}

/** An unreadable or half-written lock counts as alive; the next poll sees more. */
function ownerIsAlive(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
