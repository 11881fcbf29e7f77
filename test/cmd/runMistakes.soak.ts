// `lapse run` as a process, the slow part: a second signal, and every usage error.

import { describe, expect, test } from 'vitest';
import { Runs, SLOW } from './runAgainst.ts';

const runs = new Runs();

test('a second signal exits at once', async () => {
  await runs.configMap('endless');
  const process = runs.start('--module', runs.module('slow.ts', SLOW), '--leader-elect=false');
  await process.says(/"begun".*"key":"default\/endless"/);
  process.child.kill('SIGTERM');
  await process.says(/"stopping"/);
  expect(await process.end('SIGINT')).toBe(130);
});

describe('usage errors are answered with a message', () => {
  test.each([
    [['--module', runs.module('none.ts', 'export const a = 1;')], /needs "export default defineController/],
    [['--controllers', 'tll'], /--controllers: "tll" is none of \*/],
    [['--webhook-port', '0.0.0.0:9', '--module', runs.module('s.ts', SLOW)], /needs --webhook-cert-file/],
  ])('%j', async (args, message) => {
    const process = runs.start(...args);
    expect(await process.exited).toBe(2);
    expect(process.out).toMatch(message);
    expect(process.out).not.toMatch(/^\s+at /m);
  });
});
