// Limits for hostile inputs: at most 64 MB of memory, and at most 100 ms of blocked event loop (see cpuTime.ts).

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
  let megabytes = Number.POSITIVE_INFINITY;
  let blocked = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && !(megabytes <= MAX_MEGABYTES && blocked <= MAX_BLOCKED); i++) {
    const measured = measure(name);
    megabytes = Math.min(megabytes, measured.megabytes);
    blocked = Math.min(blocked, measured.blocked);
  }
  process.stdout.write(`${name}: ${megabytes.toFixed(0)} MB, ${blocked.toFixed(0)} ms\n`);
  expect(megabytes).toBeLessThanOrEqual(MAX_MEGABYTES);
  expect(blocked).toBeLessThanOrEqual(MAX_BLOCKED);
});
