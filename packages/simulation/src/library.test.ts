// Uses the simulator only through the public exports of the simulation and the runtime. README.md shows the code between
// the marks.

import { readFileSync } from 'node:fs';
import {
  ConfigMap,
  defineController,
  isDue,
  keyOf,
  minutes,
  parseTime,
  settled,
  waitUntil,
} from '@lapse/runtime/library';
import { expect, test } from 'vitest';
import { normalize, simulate, VIRTUAL_START } from './library.ts';

// --- controller
const ends = ({ metadata }: ConfigMap) => parseTime(metadata.annotations?.['ends-at'] ?? '');

const janitor = defineController<ConfigMap>({
  name: 'janitor',
  for: ConfigMap,
  rights: [{ group: '', resource: 'configmaps', verbs: ['delete'] }],
  async reconcile(ctx) {
    const note = ctx.cache.get(ConfigMap, ctx.key);
    if (note === undefined || Number.isNaN(ends(note))) return settled();
    if (!isDue(ends(note), ctx.now)) return waitUntil(ends(note), 'end');
    const { uid, resourceVersion } = note.metadata;
    await ctx.client.delete(ConfigMap, keyOf(note), { ifUid: uid!, ifVersion: resourceVersion! });
    return settled();
  },
});
// --- end

test('the example in README.md works', async () => {
  // --- story
  const cluster = await simulate({ compose: () => ({ controllers: [janitor] }), seed: 1 });
  await cluster.apply(`
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: note, annotations: { ends-at: "2026-01-01T00:10:00Z" } }
  `);
  cluster.faults.answer('DELETE', 500);
  await cluster.timePasses(minutes(15));
  expect(await cluster.get('configmap/note')).toBeUndefined();
  expect(normalize(cluster.timeline())).toBe(
    normalize(`
      +00:00  configmap/note    waiting           until +10:00 (end)
      +10:00  configmap/note    delete refused    internal error
      +10:00  configmap/note    failed            InternalError
      +10:00  configmap/note    deleted           lag=0.004s
    `),
  );
  expect(await cluster.doubleRun()).toEqual({ objects: 0, reconciled: 0, writes: [] });
  await cluster.close();
  // --- end
});

test('an empty cluster starts at a fixed time', async () => {
  const cluster = await simulate();
  expect(cluster.clock.now()).toBe(VIRTUAL_START);
  await cluster.close();
});

test('README.md contains exactly the code of this example', () => {
  const source = readFileSync(new URL(import.meta.url), 'utf8');
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  for (const mark of ['controller', 'story']) {
    const [, block = ''] = source.split(`// --- ${mark}\n`);
    const lines = block.slice(0, block.indexOf('// --- end')).trimEnd().split('\n');
    const indent = lines[0]!.length - lines[0]!.trimStart().length;
    expect(readme).toContain(lines.map((line) => line.slice(indent)).join('\n'));
  }
});
