// Runs the commands of every page, in order, with the real kubectl and Helm: local ones against `lapse up`, the rest
// against a real API server. Output shown on a page must be the actual output.

import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { ensureHelm } from '../kube/helm/build.ts';
import { blocksOf } from './blocks.ts';
import { PAGES, type Page } from './pages.ts';
import { Terminal } from './terminal.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-docs-'));
const bin = join(scratch, 'bin');
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
  await bed?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

/** Commands of a page that cannot be run literally, and their replacements. */
const INSTEAD: Readonly<Record<string, string>> = {
  // npm ci empties node_modules, from which this test runs; .ci/run and the kube round of test/package install.
  'npm ci && npm start': 'npm start',
  // The round that this test is not part of.
  'npm ci && npm test': 'true',
};

/** Values that depend on the current date. */
const timeless = (text: string): string =>
  text
    .replace(/\(overdue [^)]+\)/g, '(overdue …)')
    .replace(/is deleted at \S+ \(now\)/g, 'is deleted at … (now)');

/** Placeholders of a page. */
const NAMES: readonly [RegExp, string][] = [
  [
    /mcp-0123456789abcdef/g,
    '"$(kubectl get manifestcheckpoints --output=jsonpath={.items[0].metadata.name})"',
  ],
  // A watch would never end.
  [/ -w$/g, ''],
];

/** Its exit code reports a problem, which is correct for a cluster without the CRDs of Lapse. */
const FINDING = /^lapse doctor/;

/** Runs until it is stopped: waits for this output, then leaves it running. */
const LASTING: readonly [RegExp, RegExp][] = [
  [/^(bin\/)?lapse up|^npm start$/, /Ctrl-C stops it/],
  [/^(bin\/)?lapse run/, /controller started/],
];

/**
 * A local environment, in which kubectl uses `lapse up`, or one in which it uses a cluster; HOME is set accordingly.
 */
function openTerminal({ page, where }: Page): Terminal {
  const directory = join(scratch, page.replaceAll('/', '-'));
  mkdirSync(join(directory, '.kube'), { recursive: true });
  cpSync(bed.kubeconfig, join(directory, '.kube/config'));
  const env = {
    PATH: `${bin}${delimiter}${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    HOME: directory,
    LAPSE_METRICS_BIND_ADDRESS: '127.0.0.1:0',
    KUBECONFIG: where === 'cluster' ? bed.kubeconfig : join(directory, '.lapse/kubeconfig'),
  };
  return new Terminal({ directory, env, lasting: LASTING, finding: FINDING });
}

interface Step {
  readonly command: string;
  /** Files that the page says to save before. */
  readonly files: Readonly<Record<string, string>>;
  readonly answer?: string;
}

/** The commands of a page and the files that it says to save, in order. */
function stepsOf(page: string): Step[] {
  const steps: Step[] = [];
  let files: Record<string, string> = {};
  for (const { language, text, saved, follows } of blocksOf(join(root, page))) {
    if (language === 'yaml' && saved !== undefined) files = { ...files, [saved]: text };
    if (language === 'console') {
      const [line = '', ...answer] = text.split('\n');
      steps.push({ command: line.replace(/^\$ /, ''), files, answer: answer.join('\n') });
    }
    if (language === '' && follows && steps.length > 0) steps.push({ ...steps.pop()!, answer: text });
    if (language !== 'sh') continue;
    const lines = text.split('\n').map((line) => line.replace(/ {2,}#.*$/, '').trim());
    steps.push(...lines.filter(Boolean).map((line) => ({ command: typed(line), files })));
  }
  return steps;
}

const typed = (line: string): string =>
  NAMES.reduce((text, [word, name]) => text.replace(word, name), INSTEAD[line] ?? line);

describe.each(PAGES)('$page', (it) => {
  const { page, where, given = [] } = it;
  let terminal: Terminal;
  const steps = stepsOf(page);
  beforeAll(async () => {
    terminal = openTerminal(it);
    for (const command of given) await terminal.type(command);
  });
  afterAll(() => terminal?.close());

  test('has commands', () => expect(steps.length).toBeGreaterThan(0));

  test.each(steps.map((step, at) => ({ at: at + 1, ...step })))(
    '$at $command',
    async ({ command, files, answer }) => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(terminal.directory, name), text);
      // `npm start` of the README was the first step of the quick start.
      if (where === 'cluster' && command === 'npm start') return;
      const said = await terminal.type(command);
      if (answer !== undefined) expect(timeless(said)).toBe(answer);
    },
  );
});
