// Executes the advice after `next` of every situation on a server: commands find the objects they name, are accepted,
// and have the stated effect. Suggested policies pass admission.

import { FAMILIES } from 'lapse/controllers/registry';
import type { Explanation } from 'lapse/forecast/explain/explanation';
import { findPolicyFor } from 'lapse/forecast/explain/findPolicyFor';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explainIn, NOW } from './answer.ts';
import { ServedWorld } from './server.ts';
import { readSituations, type Situation } from './situations.ts';
import { parseObjects, SERVED } from './world.ts';

/** Parses a command like a shell, for the quotes that Lapse writes. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

/** What must be true after the command. */
const EFFECTS: readonly (readonly [RegExp, (after: Explanation) => boolean])[] = [
  [/^to keep it$/, ({ decision }) => decision.kind !== 'deleted'],
  [/^to set the Cleaner to dry run$/, ({ decision }) => decision.kind !== 'deleted'],
  [/^to allow the deletion$/, ({ decision }) => decision.kind !== 'held'],
  [/^to enforce the (policy|Cleaner)$/, ({ decision }) => decision.kind === 'deleted'],
  [/^to delete it an hour/, ({ decision }) => !('by' in decision) || decision.by.reason !== 'NoTTL'],
  [/^to enable /, ({ disabled }) => disabled.length === 0],
  [/^to keep it, keep /, () => true],
  [/^it is overdue/, () => true],
];

const situations = readSituations();
const advised = situations.filter(({ answer }) => /^ {2}next .*: (kubectl|lapse) /m.test(answer));
let world: ServedWorld;

beforeAll(async () => {
  world = await ServedWorld.open();
});
afterAll(() => world.close());

/** Runs the command, and explains again. */
async function follow(command: string, { given, command: asked }: Situation): Promise<Explanation> {
  const words = asked.slice(2);
  const [who, ...rest] = wordsOf(command);
  if (who === 'kubectl') {
    await world.kubectl(rest);
    return explainIn(world, words, given);
  }
  const [verb, ...flags] = rest;
  if (verb === 'explain') return explainIn(world, flags, given);
  if (verb === 'doctor') return explainIn(world, words, given);
  expect(verb).toBe('run');
  const named = flags.map((flag) => flag.split('=')[0]!);
  return explainIn(
    world,
    [...words.filter((word) => !named.some((one) => word.startsWith(one))), ...flags],
    given,
  );
}

test('many situations advise commands', () => expect(advised.length).toBeGreaterThan(30));

test.each(advised.map((it) => [`${it.file}: ${it.name}`, it] as const))('%s', async (_, it) => {
  await world.hold(parseObjects(it.given));
  const { next, decision } = await explainIn(world, it.command.slice(2), it.given);
  const commands = next.flatMap(({ what, command }) => (command === undefined ? [] : [{ what, command }]));
  expect(commands.length).toBeGreaterThan(0);
  for (const { what, command } of commands) {
    await world.hold(parseObjects(it.given));
    const [, hasWorked] = EFFECTS.find(([pattern]) => pattern.test(what)) ?? [];
    const after = await follow(command, it);
    expect(hasWorked?.(after), `${what}: ${command}, after ${decision.kind}`).toBe(true);
  }
});

describe('a policy is suggested only where it is allowed and useful', () => {
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {} });
  const context = {
    served: SERVED,
    now: NOW,
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: FAMILIES,
  };
  const suggested = async (resource: string, name = 'x') =>
    (await findPolicyFor(context, SERVED.find((kind) => kind.resource === resource)!, name)) ?? 'none';
  test.each([
    ['configmaps', 'TTLPolicy'],
    ['pipelineruns', 'TTLPolicy'],
    ['namespaces', 'ClusterTTLPolicy'],
    ['nodes', 'none'],
    ['persistentvolumes', 'none'],
    ['customresourcedefinitions', 'none'],
    ['events', 'none'],
    ['leases', 'none'],
    ['ttlpolicies', 'none'],
    ['clusterttlpolicies', 'none'],
    ['cleaners', 'none'],
    ['objectkeepers', 'none'],
    ['volumecapturerequests', 'none'],
    ['manifestcheckpoints', 'none'],
    ['lvmvolumegroups', 'none'],
  ])('%s: %s', async (resource, policy) => expect(await suggested(resource)).toBe(policy));

  test.each(['default', 'kube-system', 'kube-public'])('namespace %s: none', async (name) =>
    expect(await suggested('namespaces', name)).toBe('none'),
  );
});
