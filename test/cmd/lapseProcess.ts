// A `lapse` process for a test: what it says, and how it ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

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

  /** Resolves with the match as soon as it has been said; fails when the process ends without. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    const said = pattern.exec(this.out);
    if (said !== null) return Promise.resolve(said);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ pattern, resolve });
      void this.exited.then((code) =>
        reject(new Error(`ended with ${code}, without ${pattern}:\n${this.out}`)),
      );
    });
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
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
