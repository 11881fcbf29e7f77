// For tests of `lapse run` as a process: one API server per file, and processes that stop with their test.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { type Embedded, startEmbedded } from 'lapse/cli/embedded';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { LapseProcess } from './lapseProcess.ts';

/** Is slow for every ConfigMap, fails for `bad`, and never finishes for `endless`. */
export const SLOW = `
import { ConfigMap, defineController, settled } from 'lapse/runtime';
export default defineController({
  name: 'slow', for: ConfigMap,
  async reconcile(ctx) {
    if (ctx.key.name === 'bad') throw new Error('this one always fails');
    ctx.log.info({}, 'begun');
    await new Promise((resolve) => setTimeout(resolve, ctx.key.name === 'endless' ? 1e9 : 300));
    ctx.log.info({}, 'done');
    return settled();
  },
});`;

export class Runs {
  readonly #scratch = mkdtempSync(join(tmpdir(), 'lapse-run-'));
  readonly #running: LapseProcess[] = [];
  #embedded: Embedded | undefined;
  #client: Client | undefined;

  constructor() {
    beforeAll(async () => {
      const data = join(this.#scratch, 'data');
      this.#embedded = await startEmbedded({
        data,
        store: 'memory',
        host: '127.0.0.1',
        port: 0,
        kubeconfigOut: join(data, 'kubeconfig'),
        onUnexpected: (cause) => {
          throw cause;
        },
      });
      this.#client = createClient({
        transport: inProcessTransport(this.#embedded.server.handle),
        clock: realClock,
        random: systemRandom,
        credentials: fixedCredentials({ headers: bearer(this.#embedded.token) }),
      });
    });
    afterEach(async () => {
      await Promise.all(this.#running.splice(0).map((one) => one.end('SIGKILL')));
    });
    afterAll(async () => {
      await this.#embedded?.close();
      rmSync(this.#scratch, { recursive: true, force: true });
    });
  }

  /** A client of the server, without its socket. */
  get client(): Client {
    return this.#client!;
  }

  async configMap(name: string, annotations: Record<string, string> = {}): Promise<void> {
    const metadata = { name, namespace: 'default', annotations };
    objectOf(await this.client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata }));
  }

  /** `lapse run` with these arguments. */
  start(...args: string[]): LapseProcess {
    const made = new LapseProcess(['run', '--metrics-bind-address', '127.0.0.1:0', ...args], {
      KUBECONFIG: this.#embedded!.kubeconfig,
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
