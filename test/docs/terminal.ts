// A terminal in a directory that looks like a clone: commands run one after another, and variables that one of them
// exports or unsets apply to the next. Commands that run until they are stopped are left running.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);

/** The files of a clone that commands of a page use. */
const CLONE = ['bin', 'config', 'examples', 'node_modules', 'package.json', 'packages'];

/** Longer than anything takes that tests wait for, also on a busy machine. */
const PATIENCE_MS = 180_000;

export interface TerminalOptions {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Commands that keep running: waits for this output. */
  readonly lasting: readonly (readonly [start: RegExp, says: RegExp])[];
  /** Commands for which exit code 1 is a valid result. */
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

  /** Its output. */
  async type(command: string): Promise<string> {
    const lasting = this.#options.lasting.find(([start]) => start.test(command));
    return lasting === undefined ? this.#shell(command) : this.#leaveRunning(command, lasting[1]);
  }

  /** Stops all running commands. */
  async close(): Promise<void> {
    const alive = this.#running.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const closed = alive.map((child) => new Promise((resolve) => child.once('close', resolve)));
    // With their children, because npm does not forward signals.
    for (const { pid } of alive) process.kill(-pid!, 'SIGKILL');
    await Promise.all(closed);
  }

  async #shell(command: string): Promise<string> {
    const file = join(this.directory, '.environment');
    const options = { cwd: this.directory, env: this.#env, encoding: 'utf8' as const, maxBuffer: 1 << 26 };
    const line = `${command}\ncode=$?\nenv -0 > '${file}'\nexit $code`;
    try {
      // A pipe fails if any part of it does.
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

/** Parses the output of `env -0`. */
const readEnvironment = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\0')
      .filter(Boolean)
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
