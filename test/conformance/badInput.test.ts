// Bad input gets the Status of the real server (fixtures/badInput.json) and changes nothing; unusual but valid input is
// stored exactly. badInput.kube.ts checks the real server with the same tables. Rules in knownBadInput.json must fail,
// all others must pass.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareStage, type Stage } from './badInput/stage.ts';
import { checkAccepted, checkRejected, KEPT, REFUSED } from './badInput/suite.ts';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { loadKnown, unexpectedResults } from './known.ts';
import type { CaseResult } from './replay/types.ts';

let target: Embedded;
let stage: Stage;

beforeAll(async () => {
  target = await startEmbedded();
  stage = await prepareStage(target);
});
afterAll(() => target?.close());

const known = loadKnown('badInput');
const seen = new Map<string, CaseResult>();

describe('refused with the right Status, without a new revision', () => {
  test.each(REFUSED)('%s', async (rule) => {
    const before = target.server.revision();
    const result = await checkRejected(stage, rule);
    seen.set(`refused / ${rule}`, result);
    if (Object.hasOwn(known, `refused / ${rule}`)) return;
    expect(result).toEqual({ kind: 'passed' });
    expect(target.server.revision()).toBe(before);
  });
});

describe('kept exactly', () => {
  test.each(KEPT)('%s', async (rule) => {
    const result = await checkAccepted(target, rule);
    seen.set(`kept / ${rule}`, result);
    if (!Object.hasOwn(known, `kept / ${rule}`)) expect(result).toEqual({ kind: 'passed' });
  });
});

test('the list of known differences is correct', () => {
  expect(unexpectedResults(seen, known)).toEqual([]);
});

test('afterwards the server is up, unchanged, and had no internal error', async () => {
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect((await stage.send({ method: 'GET', path: '/readyz' })).status).toBe(200);
  expect(target.unexpected).toEqual([]);
});
