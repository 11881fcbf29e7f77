// `lapse up` as a new user runs it: the examples do what they say, and a restart continues where the last run stopped.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { LapseProcess } from './lapseProcess.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-up-'));
const running: LapseProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function up(...args: string[]): LapseProcess {
  const made = new LapseProcess(['up', '--data', join(scratch, 'data'), ...args]);
  running.push(made);
  return made;
}

test('the examples are applied once; their pending deletions survive a restart', async () => {
  const first = up();
  await first.says(/Deadlines and deletions of the examples are shown here/);
  expect(first.out).toMatch(/serving {6}https:\/\/127\.0\.0\.1:\d+/);
  expect(first.out).toMatch(/kubectl --kubeconfig \S+ get namespaces/);
  expect(first.out).toContain(join(scratch, 'data'));
  // The example with the most time left, so that a slow machine can restart in between.
  const waiting = /pod\/build +waiting +until (\S+) \(ttl\)/;
  const [, due] = await first.says(waiting);
  await first.says(/job\/\S+ +deleted/);
  expect(first.out).not.toMatch(/was not applied/);
  expect(await first.end('SIGINT')).toBe(0);
  expect(first.out).toMatch(
    /in \S+: [1-9]\d* done, [1-9]\d* waiting \(next: .*\)\n(?: {2}\S+ +\d+ done.*\n)+stopped at revision \d+; the data is kept/,
  );

  const second = up();
  expect((await second.says(waiting))[1]).toBe(due);
  expect(second.out).not.toMatch(/Deadlines and deletions of the examples are shown here/);
  expect(await second.end('SIGINT')).toBe(0);
  expect(second.out).toMatch(/done, [1-9]\d* waiting \(next: /);
});

test('a plan reads the configuration that it recorded in the cluster', async () => {
  const data = join(scratch, 'planned');
  const running = up('--data', data);
  // After five seconds all examples exist.
  await running.says(/job\/report +waiting/);
  const plan = new LapseProcess(['plan', `--kubeconfig=${join(data, 'kubeconfig')}`]);
  expect(await plan.exited).toBe(0);
  expect(plan.out).toMatch(/^in .* cleaner\/preview-7b -n default/m);
  expect(plan.out).toMatch(/^in .* manifestcapturerequest\/before-the-change -n default/m);
  expect(await running.end('SIGINT')).toBe(0);
});

test('without controllers, simulated controllers and examples it is a bare API server', async () => {
  const bare = up('--store', 'memory', '--controllers=', '--simulated-controllers=', '--no-examples');
  await bare.says(/controllers {2}none/);
  await bare.says(/simulated {4}none/);
  expect(await bare.end('SIGINT')).toBe(0);
  expect(bare.out).toMatch(/nothing was kept \(memory store\)/);
});

test('a second process on the same data directory is refused with a message', async () => {
  const first = up('--no-examples');
  await first.says(/Ctrl-C/);
  const second = up('--no-examples');
  expect(await second.exited).toBe(2);
  expect(second.out).toMatch(/is in use by another process of Lapse; choose another --data directory/);
  expect(await first.end('SIGINT')).toBe(0);
});
