// Limits for hostile inputs: at most 64 MB of memory, and at most 100 ms of blocked event loop.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HOSTILE_INPUTS } from './hostileInputs.ts';
import type { Measured } from './measureHostile.ts';

const SCRIPT = fileURLToPath(new URL('./measureHostile.ts', import.meta.url));
const MAX_MEGABYTES = 64;
const MAX_BLOCKED = 100;
/** A busy machine can only increase a measurement, so the best of a few counts. */
const TRIES = 5;

const measure = (name: string): Measured =>
  JSON.parse(execFileSync(process.execPath, ['--expose-gc', SCRIPT, name], { encoding: 'utf8' })) as Measured;

test.each(HOSTILE_INPUTS.map(({ name }) => name))('%s takes little memory and time', (name) => {
  let best = measure(name);
  for (let i = 1; i < TRIES && !isWithin(best); i++) {
    const next = measure(name);
    best = {
      megabytes: Math.min(best.megabytes, next.megabytes),
      blocked: Math.min(best.blocked, next.blocked),
    };
  }
  process.stdout.write(`${name}: ${best.megabytes.toFixed(0)} MB, ${best.blocked.toFixed(0)} ms\n`);
  expect(best.megabytes).toBeLessThanOrEqual(MAX_MEGABYTES);
  expect(best.blocked).toBeLessThanOrEqual(MAX_BLOCKED);
});

const isWithin = ({ megabytes, blocked }: Measured): boolean =>
  megabytes <= MAX_MEGABYTES && blocked <= MAX_BLOCKED;
