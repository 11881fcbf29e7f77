import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';
import type { StressReport } from './stress.ts';

const SEED = Number(process.env.SEED ?? 20_260_101);

it('100,000 random programs give what the tree walker gives, within their budgets', () => {
  const { programs, disagreements, overspent } = fuzz(SEED, 100_000);
  expect(programs).toBe(100_000);
  expect(disagreements.slice(0, 5)).toEqual([]);
  expect(overspent).toEqual([]);
});

// Without a budget, each of them would run for minutes. `node test/cel/stress.ts 1 1000` prints the actual milliseconds
// (30 to 60).
it('1,000 endless programs are stopped by their budget before they block the thread for long', () => {
  const script = fileURLToPath(new URL('./stress.ts', import.meta.url));
  const report = execFileSync(process.execPath, [script, String(SEED), '1000'], { encoding: 'utf8' });
  const { programs, exhausted, overspent, longest, slowest } = JSON.parse(report) as StressReport;
  expect(exhausted).toBe(programs);
  expect(programs).toBeGreaterThan(900);
  expect(overspent).toEqual([]);
  expect(longest, slowest).toBeLessThan(250);
});
