// Each family has exactly the rights it needs: every right that the chart grants is removed alone, and the case of its
// family must fail because of exactly this right. With all rights no request is refused.

import { buildInstallationAccess } from 'lapse/cli/manifests/access';
import { FAMILIES } from 'lapse/controllers/registry';
import { describe, expect, test } from 'vitest';
import { impersonatingInstallationOf } from './installation.ts';
import { optionRules, withOptionRules } from './optionCases.ts';
import { ENFORCED, RARE } from './rare.ts';
import { readApiObjects } from './readApi.ts';
import { rightsIn, withoutRight } from './rights.ts';
import { allRightsSuites } from './rightsSuites.ts';

const SUITES = allRightsSuites();

/**
 * Missing rights of these verbs are recovered from later: a watch by lists, a read after a conflict by the next
 * reconcile.
 */
const RECOVERED = new Set(['get', 'list', 'watch']);

describe.each(SUITES.map((suite) => [suite.name, suite] as const))('%s', (_, suite) => {
  const { access, rights } = suite;

  test('has no request refused and reaches every result with all of its rights', async () => {
    expect(await suite.run(access)).toEqual({ refused: [] });
  });

  const needed = rights.filter(({ text }) => !ENFORCED.includes(text));
  test.each(needed.map((right) => [right.text, right] as const))('fails without: %s', async (_, right) => {
    const { refused, missing } = await suite.run(withoutRight(access, right));
    expect(refused.filter((words) => words.includes(right.refusal))).not.toEqual([]);
    if (!RECOVERED.has(right.verb)) expect(missing).toBeDefined();
  });
});

test('all cases together cover every right of an installation with everything enabled', () => {
  const roles = [...buildInstallationAccess(impersonatingInstallationOf(...FAMILIES)), ...readApiObjects()];
  const chosen = FAMILIES.flatMap((family) => optionRules(family, FAMILIES));
  const all = rightsIn(withOptionRules(roles, chosen)).map(({ text }) => text);
  const answered = new Set(SUITES.flatMap(({ rights }) => rights.map(({ text }) => text)));
  expect(all.filter((text) => !answered.has(text))).toEqual([]);
  expect([...answered].filter((text) => !all.includes(text))).toEqual([]);
  expect(RARE.filter((text) => !answered.has(text))).toEqual([]);
});
