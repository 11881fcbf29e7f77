// The seeds of a round: those of the sample, or the one that is to be repeated.

import { expect } from 'vitest';

/** `LAPSE_SEED=7` runs seed 7 and nothing else. */
const WANTED = process.env['LAPSE_SEED'];

export function seedsFrom(first: number, count: number): number[] {
  return WANTED === undefined ? Array.from({ length: count }, (_, i) => first + i) : [Number(WANTED)];
}

/** As many seeds as fit into the time, at least one. */
export function* seedsFor(first: number, milliseconds: number): Generator<number> {
  if (WANTED !== undefined) {
    yield Number(WANTED);
    return;
  }
  const end = performance.now() + milliseconds;
  let seed = first;
  do yield seed++;
  while (performance.now() < end);
}

/** The command that repeats one seed of this file; %d stands for it. */
export const replayOf = (file: string, project: string): string =>
  `LAPSE_SEED=%d npx vitest run --project ${project} test/robustness/${file}`;

/** Fails with the report, if it is defined. */
export function expectKept(report: string | undefined): void {
  if (report !== undefined) expect.fail(report);
}
