import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { previousChart } from './previous.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-previous-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const git = (repository: string, ...args: string[]) =>
  execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    stdio: 'ignore',
  });

/** A repository with one commit for each entry: with a chart, or without. */
function repositoryOf(...commits: ('chart' | 'none')[]): string {
  const repository = mkdtempSync(join(scratch, 'repository-'));
  git(repository, 'init');
  for (const [at, what] of commits.entries()) {
    const folder = join(repository, what === 'chart' ? 'config/chart' : 'other');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'Chart.yaml'), `version: 0.0.${at}\n`);
    git(repository, 'add', '.');
    git(repository, 'commit', '-m', `commit ${at}`);
  }
  return repository;
}

function shallow(repository: string): string {
  const clone = mkdtempSync(join(scratch, 'clone-'));
  git(scratch, 'clone', '--depth=1', `file://${repository}`, clone);
  return clone;
}

const look = (repository: string, isCI: boolean) =>
  previousChart({ repository, isCI, directory: mkdtempSync(join(scratch, 'chart-')) });

test('the chart of the commit before', async () => {
  const found = await look(repositoryOf('chart', 'chart'), true);
  expect('chart' in found && existsSync(join(found.chart, 'Chart.yaml'))).toBe(true);
});

test.each([
  ['a first commit', () => repositoryOf('chart'), /first commit/],
  ['a previous commit without a chart', () => repositoryOf('none', 'chart'), /has no chart/],
  ['a shallow clone', () => shallow(repositoryOf('chart', 'chart')), /--deepen=1/],
])('%s is not an error, also in CI', async (_, repository, reason) => {
  expect(await look(repository(), true)).toEqual({ none: expect.stringMatching(reason) });
});

test.each([['no repository at all', () => mkdtempSync(join(scratch, 'nothing-')), /no repository/]])(
  '%s is reported, and is an error in CI',
  async (_, repository, reason) => {
    const place = repository();
    expect(await look(place, false)).toEqual({ none: expect.stringMatching(reason) });
    await expect(look(place, true)).rejects.toThrow(reason);
  },
);
