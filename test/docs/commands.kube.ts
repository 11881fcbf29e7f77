// The commands of the README and of the pages for operators, in the order of the pages, with the real kubectl and Helm: the
// quick start against `lapse up`, the rest against a real API server.

import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LapseProcess } from '../cmd/lapseProcess.ts';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { ensureHelm } from '../kube/helm/build.ts';
import { blocksOf } from './blocks.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-docs-'));
const bin = join(scratch, 'bin');
const running: LapseProcess[] = [];
let bed: Bed;

beforeAll(async () => {
  bed = await startBed({ controllers: ['clusterrole-aggregation-controller', 'namespace-controller'] });
  mkdirSync(bin);
  symlinkSync(join(root, 'bin/lapse'), join(bin, 'lapse'));
  symlinkSync(bed.bins.kubectl, join(bin, 'kubectl'));
  symlinkSync(await ensureHelm(4), join(bin, 'helm'));
  chmodSync(bin, 0o755);
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.end('SIGKILL')));
  await bed?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

/** What a page cannot be taken at its word for, and what is done instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  // This checkout is installed already; what npm start does is this.
  'npm ci && npm start': 'lapse up --data .lapse',
  // The round that this test is not part of.
  'npm ci && npm test': 'true',
};

/** Goes on until somebody stops it: waited for until it says this, then left running. */
const LASTING: readonly [RegExp, RegExp][] = [
  [/^lapse up/, /Ctrl-C stops it/],
  [/^lapse run/, /controller started/],
];

const execute = promisify(execFile);

class Terminal {
  readonly directory: string;
  readonly env: Record<string, string>;

  constructor(name: string, env: Record<string, string>) {
    this.directory = join(scratch, name);
    mkdirSync(this.directory);
    for (const folder of ['config', 'examples'])
      symlinkSync(join(root, folder), join(this.directory, folder));
    this.env = {
      PATH: `${bin}${delimiter}${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      HOME: this.directory,
      LAPSE_METRICS_BIND_ADDRESS: '127.0.0.1:0',
      ...env,
    };
  }

  async type(command: string): Promise<void> {
    const exported = /^export (\w+)=(.*)$/.exec(command);
    if (exported !== null) {
      this.env[exported[1]!] = (await this.#shell(`printf %s "${exported[2]}"`)).trim();
      return;
    }
    const lasting = LASTING.find(([start]) => start.test(command));
    if (lasting === undefined) return void (await this.#shell(command));
    const lapse = new LapseProcess(command.split(' ').slice(1), this.env, this.directory);
    running.push(lapse);
    await lapse.says(lasting[1]);
  }

  async #shell(command: string): Promise<string> {
    const options = { cwd: this.directory, env: this.env, encoding: 'utf8' as const, maxBuffer: 1 << 26 };
    // A pipe fails when any part of it does.
    const { stdout } = await execute('bash', ['-o', 'pipefail', '-c', command], options);
    return stdout;
  }
}

/** The commands of a page and the files that it says to save, in order. */
function stepsOf(page: string): { command: string; files: Record<string, string> }[] {
  let files: Record<string, string> = {};
  return blocksOf(join(root, page)).flatMap(({ language, text, saved }) => {
    if (language === 'yaml' && saved !== undefined) files = { ...files, [saved]: text };
    if (language !== 'sh') return [];
    const lines = text.split('\n').map((line) => line.replace(/ {2,}#.*$/, '').trim());
    return lines.filter(Boolean).map((line) => ({ command: INSTEAD[line] ?? line, files }));
  });
}

const PAGES: readonly [string, 'desk' | 'cluster'][] = [
  ['docs/quick-start.md', 'desk'],
  ['README.md', 'cluster'],
  ['docs/security.md', 'cluster'],
  ['docs/operations.md', 'cluster'],
];

describe.each(PAGES)('%s', (page, where) => {
  let terminal: Terminal;
  const steps = stepsOf(page);
  beforeAll(() => {
    const env: Record<string, string> = where === 'cluster' ? { KUBECONFIG: bed.kubeconfig } : {};
    terminal = new Terminal(page.replaceAll('/', '-'), env);
  });

  test('has commands', () => expect(steps.length).toBeGreaterThan(1));

  test.each(steps.map(({ command, files }, at) => ({ at: at + 1, command, files })))(
    '$at $command',
    async ({ command, files }) => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(terminal.directory, name), text);
      // `npm start` of the README was the first step of the quick start.
      if (where === 'cluster' && command.startsWith('lapse up')) return;
      await terminal.type(command);
    },
  );
});
