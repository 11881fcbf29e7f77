// Changed inputs never crash a reader, and never block it for long: SEED and RUNS come from the environment.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { FuzzInputReport } from './fuzzInputs.ts';
import { FUZZ_TARGETS } from './fuzzTargets.ts';

const SCRIPT = fileURLToPath(new URL('./fuzzInputs.ts', import.meta.url));
const SEED = process.env.SEED ?? '20261117';
const RUNS = process.env.RUNS ?? '2500';
const MAX_MEGABYTES = 64;
/** Parsing YAML is slow: inputs of a hundred kilobytes take that long. */
const MAX_MILLIS = 250;

test.each(FUZZ_TARGETS.map(({ name }) => name))('randomly changed %s do no harm', (name) => {
  const text = execFileSync(process.execPath, ['--expose-gc', SCRIPT, name, SEED, RUNS], {
    encoding: 'utf8',
  });
  const { runs, crashes, longest, slowest, megabytes } = JSON.parse(text) as FuzzInputReport;
  process.stdout.write(
    `${name}: ${runs} inputs, at most ${longest.toFixed(0)} ms, ${megabytes.toFixed(0)} MB\n`,
  );
  expect(crashes.slice(0, 3)).toEqual([]);
  expect(longest, `seed ${slowest}`).toBeLessThanOrEqual(MAX_MILLIS);
  expect(megabytes).toBeLessThanOrEqual(MAX_MEGABYTES);
});
