// Child processes that cannot outlive the test: each runs in a separate process group under a small shell that kills it
// when its standard input ends, which happens even when the test process is killed with -9.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const SUPERVISE = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
( read -r _ <&3; kill -9 $child 2>/dev/null ) &
guard=$!
exec 3<&-
wait $child
code=$?
kill $guard 2>/dev/null
exit $code`;

// The time the shell has to kill and reap its child. After that the group is killed from here.
const KILL_GROUP_AFTER_MS = 5_000;

export interface Supervised {
  readonly name: string;
  readonly logFile: string;
  /** Resolves with the exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
  isRunning(): boolean;
  /** Kills it at once and waits until it is gone; no effect if it already is. */
  kill(): Promise<void>;
  /** The last lines of its log, for an error message. */
  tail(lines?: number): string;
}

export function supervise(binary: string, args: string[], logFile: string): Supervised {
  const log = openSync(logFile, 'a');
  const child = spawn('sh', ['-c', SUPERVISE, 'sh', binary, ...args], {
    detached: true,
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
  const killAtExit = () => killGroup(child);
  process.once('exit', killAtExit);
  void exited.then(() => process.off('exit', killAtExit));
  return {
    name: basename(binary),
    logFile,
    exited,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async kill() {
      child.stdin?.end();
      const group = setTimeout(() => killGroup(child), KILL_GROUP_AFTER_MS);
      await exited;
      clearTimeout(group);
    },
    tail: (lines = 25) => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n'),
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}
