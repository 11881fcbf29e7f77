// A guarantee that no broken controller violates proves nothing. Each flaw must be detected by its guarantee, and the
// same controller without the flaw must keep all of them.

import { expect, test } from 'vitest';
import { type GuaranteeName, nothingUnsaved } from './guarantees.ts';
import { policyTargets } from './policies.ts';
import { reportOf, runRound } from './round.ts';
import { replayOf } from './seeds.ts';
import { type Flaw, tiny } from './tiny.ts';

const CAUGHT_BY: Readonly<Record<Flaw, GuaranteeName>> = {
  early: 'neverEarly',
  blind: 'neverOverExtension',
  byName: 'neverWrongUid',
  forgetful: 'eventuallyDeleted',
  rewriting: 'terminalIsImmutable',
  restless: 'noWriteWithoutChange',
};
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

test.each(Object.entries(CAUGHT_BY) as [Flaw, GuaranteeName][])(
  '%s is detected by %s',
  async (flaw, promise) => {
    for (const seed of SEEDS) {
      const { broken } = await runRound(tiny(flaw), seed, { steps: 60 });
      if (broken[promise] !== undefined) return;
    }
    expect.fail(`no round with the seeds ${SEEDS.join(', ')} broke ${promise}`);
  },
);

test.each(SEEDS.slice(0, 4))('without a flaw every guarantee is kept (seed %d)', async (seed) => {
  const { broken, evidence } = await runRound(tiny(), seed, { steps: 60 });
  expect(broken).toEqual({});
  expect(evidence.changes.filter(({ by, after }) => by === 'process' && after === undefined)).not.toEqual([]);
});

test('a DELETE before the save, or without it, is detected by nothingUnsaved', async () => {
  const { broken, evidence } = await runRound(policyTargets, 1, { steps: 60 });
  expect(broken).toEqual({});
  const isSave = ({ resource }: { readonly resource: string }) => resource === 'secrets';
  const saves = evidence.changes.filter(isSave);
  const others = evidence.changes.filter((change) => !isSave(change));
  expect(saves.length).toBeGreaterThan(0);
  for (const changes of [others, [...others, ...saves]])
    expect(nothingUnsaved({ ...evidence, changes })).toContainEqual(
      expect.stringContaining('without being saved'),
    );
});

test('a violated guarantee is reported with its name, its seed and the command that repeats it', async () => {
  const replay = replayOf('controllers.test.ts', 'fast');
  const [first, second] = [
    await runRound(tiny('early'), 1, { steps: 40 }),
    await runRound(tiny('early'), 1, { steps: 40 }),
  ];
  const report = reportOf(first, replay);
  expect(report).toMatch(/^broken with seed 1:\n {2}neverEarly: /);
  expect(report).toContain(
    'again: LAPSE_SEED=1 npx vitest run --project fast test/robustness/controllers.test.ts\n',
  );
  expect(report).toContain(first.timeline);
  expect(reportOf(second, replay)).toBe(report);
  expect(reportOf({ ...first, broken: {} }, replay)).toBeUndefined();
});
