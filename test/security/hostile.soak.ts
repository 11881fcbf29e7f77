// Limits for hostile inputs: at most 64 MB of memory, and at most 100 ms of blocked event loop on a machine that parses
// 1 MB of JSON in REFERENCE ms. On a slower machine, or a busy one with less cache, the limit grows in proportion.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HOSTILE_INPUTS } from './hostileInputs.ts';
import type { Measured } from './measureHostile.ts';

const SCRIPT = fileURLToPath(new URL('./measureHostile.ts', import.meta.url));
const MAX_MEGABYTES = 64;
const MAX_BLOCKED = 100;
const REFERENCE = 10;
/** A busy machine can only increase a measurement, so the best of a few counts. */
const TRIES = 5;

const measure = (name: string): Measured =>
  JSON.parse(execFileSync(process.execPath, ['--expose-gc', SCRIPT, name], { encoding: 'utf8' })) as Measured;

/** The blocked time, in milliseconds of a machine that needs REFERENCE for the reference work. */
const comparable = ({ blocked, reference }: Measured): number => (blocked * REFERENCE) / reference;

test.each(HOSTILE_INPUTS.map(({ name }) => name))('%s takes little memory and time', (name) => {
  let megabytes = Number.POSITIVE_INFINITY;
  let blocked = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && !(megabytes <= MAX_MEGABYTES && blocked <= MAX_BLOCKED); i++) {
    const measured = measure(name);
    megabytes = Math.min(megabytes, measured.megabytes);
    blocked = Math.min(blocked, comparable(measured));
  }
  process.stdout.write(`${name}: ${megabytes.toFixed(0)} MB, ${blocked.toFixed(0)} ms\n`);
  expect(megabytes).toBeLessThanOrEqual(MAX_MEGABYTES);
  expect(blocked).toBeLessThanOrEqual(MAX_BLOCKED);
});
