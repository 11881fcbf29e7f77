import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '@lapse/apiserver/http/listen';
import { createServer } from '@lapse/apiserver/server';
import { realClock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import type { Command } from 'commander';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { applyCommand, kindsOf } from '#manager/crds';
import { NO_KIND } from './checkpoint/findCheckpoint.ts';
import { crdsCommand, selectForCrds } from './crdsCommand.ts';
import type { DoctorContext } from './doctor/finding.ts';
import { examineKinds } from './doctor/kinds.ts';
import { manifestsCommand } from './manifests/manifestsCommand.ts';
import { logStartup } from './startup.ts';

const root = join(import.meta.dirname, '../../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

const named = (...names: string[]): Family[] => FAMILIES.filter(({ name }) => names.includes(name));

/** A cluster with these CRDs, its kubeconfig, and its current CRDs. */
async function cluster(crds: readonly KubeObject[] = []) {
  const server = await createServer();
  for (const crd of crds) await server.importObject(crd);
  const listener = await listen(server.handle);
  const directory = mkdtempSync(join(tmpdir(), 'lapse-crds-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, renderKubeconfig({ name: 'here', server: listener.url }));
  cleanup.push(
    () => server.close(),
    () => listener.close(),
    () => rmSync(directory, { recursive: true }),
  );
  const transport = inProcessTransport(server.handle);
  const client = createClient({ transport, clock: realClock, random: seededRandom(1) });
  const definitions = async () => (await client.list(CustomResourceDefinition)).items;
  return { kubeconfig, client, definitions };
}

/** The output of a command, by stream. */
async function run(words: readonly string[]): Promise<{ out: string; err: string }> {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const textOf = (spy: typeof out) => spy.mock.calls.map(([text]) => text).join('');
  try {
    await crdsCommand().parseAsync([...words], { from: 'user' });
    return { out: textOf(out), err: textOf(err) };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

function helpOf(command: Command): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (part) => void parts.push(part) }).outputHelp();
  return parts.join('');
}

const COMMAND = /lapse crds\b[^"`\n]*/g;
const shownIn = (text: string): string[] => [...text.matchAll(COMMAND)].map(([command]) => command.trim());

/** The hints for a cluster without the CRDs of Lapse. */
async function said(selected: readonly Family[]): Promise<string[]> {
  const { client } = await cluster();
  const findings = await examineKinds({ client, selected } as unknown as DoctorContext);
  const logged: string[] = [];
  const warn = (fields: object) => void logged.push((fields as { hint?: string }).hint ?? '');
  const quiet = () => {};
  const log: Log = { debug: quiet, info: quiet, warn, error: quiet, with: () => log };
  const families = selected.map((family) => ({ family, controllers: [], admission: [] }));
  await logStartup({ client, log, families });
  return [...findings.map(({ hint = '' }) => hint), ...logged];
}

const withStorage = named('ttl-policy', 'cleaner', 'storage-pool', 'volume-capture');
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];
const SHOWN: readonly (readonly [string, () => Promise<string[]> | string[]])[] = [
  ['doctor and the start-up log', () => said(withStorage)],
  ['the help of crds', () => shownIn(helpOf(crdsCommand()))],
  ['the help of manifests', () => shownIn(helpOf(manifestsCommand()))],
  ['lapse checkpoint', () => shownIn(NO_KIND)],
  [
    'the notes of the chart',
    () => shownIn(read('config/chart/templates/NOTES.txt').replace('{{ $family }}', 'storage-pool')),
  ],
  ['the pages', () => pages.flatMap((page) => shownIn(read(page)))],
];

describe('a foreign CRD is not changed by any command that Lapse suggests', () => {
  const foreign = kindsOf(FAMILIES).map(({ crd }) => ({
    ...crd,
    metadata: { name: crd.metadata.name!, labels: { vendor: 'somebody' } },
  }));

  test.each(SHOWN)('%s', async (_, shown) => {
    const applied = (await shown()).filter((command) => command.includes('--apply'));
    expect(applied.length).toBeGreaterThan(0);
    const { kubeconfig, definitions } = await cluster(foreign);
    const before = await definitions();
    expect(before).toHaveLength(foreign.length);
    for (const command of new Set(applied)) {
      const words = command.split(' ').slice(2);
      expect((await run([...words, '--kubeconfig', kubeconfig])).out).not.toContain(' applied');
    }
    expect(await definitions()).toEqual(before);
  });

  test.each(SHOWN)('%s: no suggested command uses kubectl apply', async (_, shown) => {
    expect((await shown()).filter((command) => /\|/.test(command))).toEqual([]);
  });
});

test('the suggested command installs the missing CRDs', async () => {
  const { kubeconfig, client } = await cluster();
  const patient = { client, selected: withStorage } as unknown as DoctorContext;
  const [{ hint } = { hint: '' }] = await examineKinds(patient);
  await run([...hint!.split(' ').slice(2), '--kubeconfig', kubeconfig]);
  client.discovery.invalidate();
  expect((await examineKinds(patient)).map(({ level }) => level)).not.toContain('problem');
});

test.each<[string[], string | undefined]>([
  [FAMILIES.filter(({ defaultOn }) => defaultOn).map(({ name }) => name), 'lapse crds --apply'],
  [['ttl-policy', 'cleaner'], 'lapse crds --apply'],
  [['cleaner'], 'lapse crds --apply --controllers=cleaner'],
  [['ttl-after-finished', 'storage-pool'], 'lapse crds --apply --controllers=storage-pool'],
  [['ttl-after-finished'], undefined],
  [['of-a-module'], undefined],
])('the command for %j is %s', (names, command) => {
  expect(applyCommand(names.map((name) => ({ name })))).toBe(command);
});

test('without --controllers prints the CRDs of the default controllers, and how to get the others', async () => {
  const { out, err } = await run([]);
  expect(out).toContain('name: ttlpolicies.lapse.dev');
  expect(out).not.toContain('storage.deckhouse.io');
  expect(err).toMatch(/off by default are not included; --controllers=\*,.*storage-pool/);
  expect((await run(['--controllers=*,storage-pool'])).out).toContain(
    'name: replicatedstoragepools.storage.deckhouse.io',
  );
});

test.each([
  ['', /selects no controller/],
  ['-cleaner', /selects no controller/],
  ['dance', /"dance" is none of/],
  ['ttl-after-finished', /has no CRDs; those with CRDs are .*cleaner/],
])('--controllers=%s is refused', (words, message) => {
  expect(() => selectForCrds(words)).toThrow(message);
});
