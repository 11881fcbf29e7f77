// No right too many, and none too few: every right of the roles that the chart gives is taken away alone, and the play of
// the family it belongs to must fail for want of exactly it. With all of them nothing is refused.

import { buildInstallationAccess } from 'lapse/cli/manifests/access';
import { FAMILIES } from 'lapse/controllers/registry';
import { describe, expect, test } from 'vitest';
import { allCasts } from './casts.ts';
import { chosenRules, withChosen } from './chosen.ts';
import { impersonatingInstallationOf } from './installation.ts';
import { ENFORCED, RARE } from './rare.ts';
import { readApiObjects } from './readApi.ts';
import { rightsIn, withoutRight } from './rights.ts';

const CASTS = allCasts();

/** Done without by asking again later: a watch by lists, a read after a lost race by the next pass. */
const RECOVERED = new Set(['get', 'list', 'watch']);

describe.each(CASTS.map((cast) => [cast.name, cast] as const))('%s', (_, cast) => {
  const { access, rights } = cast;

  test('with all of its rights: refused nothing, and everything comes of it', async () => {
    expect(await cast.perform(access)).toEqual({ refused: [] });
  });

  const needed = rights.filter(({ text }) => !ENFORCED.includes(text));
  test.each(needed.map((right) => [right.text, right] as const))('not without: %s', async (_, right) => {
    const { refused, missing } = await cast.perform(withoutRight(access, right));
    expect(refused.filter((words) => words.includes(right.refusal))).not.toEqual([]);
    if (!RECOVERED.has(right.verb)) expect(missing).toBeDefined();
  });
});

test('together they answer for every right of an installation of everything', () => {
  const roles = [...buildInstallationAccess(impersonatingInstallationOf(...FAMILIES)), ...readApiObjects()];
  const chosen = FAMILIES.flatMap((family) => chosenRules(family, FAMILIES));
  const all = rightsIn(withChosen(roles, chosen)).map(({ text }) => text);
  const answered = new Set(CASTS.flatMap(({ rights }) => rights.map(({ text }) => text)));
  expect(all.filter((text) => !answered.has(text))).toEqual([]);
  expect([...answered].filter((text) => !all.includes(text))).toEqual([]);
  expect(RARE.filter((text) => !answered.has(text))).toEqual([]);
});
