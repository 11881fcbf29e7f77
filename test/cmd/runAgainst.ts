// For tests of `lapse run` as a process: one API server a file, and runs against it that end with their test.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type ServerProcess, startServerProcess } from '../robustness/serverProcess.ts';
import { LapseProcess } from './lapseProcess.ts';

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** Takes its time with every ConfigMap, fails over `bad`, and never ends with `endless`. */
export const SLOW = `
import { ConfigMap, defineController, settled } from 'lapse/runtime';
export default defineController({
  name: 'slow', for: ConfigMap,
  async reconcile(pass) {
    if (pass.key.name === 'bad') throw new Error('this one always fails');
    pass.log.info({}, 'begun');
    await new Promise((resolve) => setTimeout(resolve, pass.key.name === 'endless' ? 1e9 : 300));
    pass.log.info({}, 'done');
    return settled();
  },
});`;

export class Runs {
  readonly #scratch = mkdtempSync(join(tmpdir(), 'lapse-run-'));
  readonly #running: LapseProcess[] = [];
  #server: ServerProcess | undefined;

  constructor() {
    beforeAll(async () => {
      this.#server = await startServerProcess(join(this.#scratch, 'data'), ['--store', 'memory']);
    });
    afterEach(async () => {
      await Promise.all(this.#running.splice(0).map((one) => one.end('SIGKILL')));
    });
    afterAll(async () => {
      await this.#server?.kill();
      rmSync(this.#scratch, { recursive: true, force: true });
    });
  }

  get server(): ServerProcess {
    return this.#server!;
  }

  /** `lapse run` with these arguments. */
  start(...args: string[]): LapseProcess {
    const made = new LapseProcess(['run', '--metrics-bind-address', '127.0.0.1:0', ...args], {
      KUBECONFIG: this.server.kubeconfig,
    });
    this.#running.push(made);
    return made;
  }

  /** A file with this text. */
  module(name: string, text: string): string {
    const file = join(this.#scratch, name);
    writeFileSync(file, text);
    return file;
  }
}
