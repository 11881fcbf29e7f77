// A terminal in a directory that looks like a clone: commands are typed one after another, and what one of them exports or
// unsets holds for the next. Those that go on until somebody stops them are left running.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);

/** Of a clone, what commands of a page look for. */
const CLONE = ['bin', 'config', 'examples', 'node_modules', 'package.json', 'packages'];

/** Longer than anything takes that is waited for here, also on a busy machine. */
const PATIENCE_MS = 180_000;

export interface TerminalOptions {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Commands that go on: waited for until they say this. */
  readonly lasting: readonly (readonly [start: RegExp, says: RegExp])[];
  /** Commands whose exit code 1 is an answer. */
  readonly finding: RegExp;
}

export class Terminal {
  readonly directory: string;
  #env: Record<string, string>;
  readonly #options: TerminalOptions;
  readonly #running: ChildProcess[] = [];

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.directory = options.directory;
    this.#env = { ...options.env };
    mkdirSync(this.directory, { recursive: true });
    for (const name of CLONE) symlinkSync(join(root, name), join(this.directory, name));
  }

  /** What it said. */
  async type(command: string): Promise<string> {
    const lasting = this.#options.lasting.find(([start]) => start.test(command));
    return lasting === undefined ? this.#shell(command) : this.#leaveRunning(command, lasting[1]);
  }

  /** Nothing goes on. */
  async close(): Promise<void> {
    const alive = this.#running.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const closed = alive.map((child) => new Promise((resolve) => child.once('close', resolve)));
    // With their children: npm passes no signal on.
    for (const { pid } of alive) process.kill(-pid!, 'SIGKILL');
    await Promise.all(closed);
  }

  async #shell(command: string): Promise<string> {
    const file = join(this.directory, '.environment');
    const options = { cwd: this.directory, env: this.#env, encoding: 'utf8' as const, maxBuffer: 1 << 26 };
    const line = `${command}\ncode=$?\nenv -0 > '${file}'\nexit $code`;
    try {
      // A pipe fails when any part of it does.
      const { stdout } = await execute('bash', ['-o', 'pipefail', '-c', line], options);
      this.#env = readEnvironment(readFileSync(file, 'utf8'));
      return stdout;
    } catch (cause) {
      const { code, stdout } = cause as { code: number; stdout: string };
      if (this.#options.finding.test(command) && code === 1) return stdout;
      throw cause;
    }
  }

  #leaveRunning(command: string, says: RegExp): Promise<string> {
    const child = spawn('bash', ['-c', `exec ${command}`], {
      cwd: this.directory,
      env: this.#env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running.push(child);
    return new Promise((resolve, reject) => {
      let out = '';
      const fail = (what: string) => reject(new Error(`${what}, without ${says}:\n${out}`));
      const timer = setTimeout(() => fail(`${PATIENCE_MS / 1000} s have passed`), PATIENCE_MS);
      child.once('close', (code) => fail(`ended with ${code}`));
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          out += chunk.toString();
          if (!says.test(out)) return;
          clearTimeout(timer);
          resolve(out);
        });
    });
  }
}

/** What `env -0` wrote. */
const readEnvironment = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\0')
      .filter(Boolean)
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
