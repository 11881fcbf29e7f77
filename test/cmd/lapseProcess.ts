// A `lapse` process for a test, with its output and exit code.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** Longer than anything takes that tests wait for, also on a busy machine. */
const PATIENCE_MS = 180_000;

const lapse = join(import.meta.dirname, '../../bin/lapse');

export class LapseProcess {
  out = '';
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  #waiting: { pattern: RegExp; resolve: (match: RegExpExecArray) => void }[] = [];

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = process.cwd()) {
    this.child = spawn(lapse, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.exited = new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.on('data', (chunk) => this.#hear(chunk));
  }

  /**
   * Resolves with the match as soon as it is printed. Fails with the whole output if the process exits first or the
   * time is up.
   */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    const said = pattern.exec(this.out);
    if (said !== null) return Promise.resolve(said);
    return new Promise((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`${what}, without ${pattern}:\n${this.out}`));
      const timer = setTimeout(() => fail(`${PATIENCE_MS / 1000} s have passed`), PATIENCE_MS);
      const heard = (match: RegExpExecArray) => {
        clearTimeout(timer);
        resolve(match);
      };
      this.#waiting.push({ pattern, resolve: heard });
      void this.exited.then((code) => {
        clearTimeout(timer);
        fail(`ended with ${code}`);
      });
    });
  }

  /** Sends the signal, and SIGKILL when the time is up. Returns the exit code; null if a signal ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    const timer = setTimeout(() => this.child.kill('SIGKILL'), PATIENCE_MS);
    return this.exited.finally(() => clearTimeout(timer));
  }

  #hear(chunk: Buffer): void {
    this.out += chunk.toString();
    this.#waiting = this.#waiting.filter(({ pattern, resolve }) => {
      const said = pattern.exec(this.out);
      if (said !== null) resolve(said);
      return said === null;
    });
  }
}
