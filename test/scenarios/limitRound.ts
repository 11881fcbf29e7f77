// Policies with random, too wide selectors, and crashes, restarts and failing requests in between: no policy deletes more
// than its limit before it stops.

import { minutes, seconds } from '@lapse/base/instant';
import { type Random, seededRandom } from '@lapse/base/random';
import { buildSelection, type LabelSelectorSpec } from '@lapse/kube/api/labelSelectorQuery';
import type { KubeObject } from '@lapse/kube/api/object';
import { matchesLabels, parseLabelSelector } from '@lapse/kube/api/selectors';
import { expect } from 'vitest';
import { PipelineRun, run, ttlPolicy } from './pipelineRuns.ts';
import { start } from './policyScenarios.ts';
import type { Scene } from './scene.ts';

const OBJECTS = 16;
/** The windows are longer than the round, so that the limit counts once. */
const PER = '100h';

interface Case {
  readonly namespace: string;
  readonly policy: KubeObject;
  readonly objects: readonly KubeObject[];
  /** The most that the policy may delete. */
  readonly allowed: number;
}

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random.next() * values.length)]!;

const SELECTORS: readonly LabelSelectorSpec[] = [
  {},
  { matchLabels: { team: 'a' } },
  { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] },
  { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
  { matchExpressions: [{ key: 'keep', operator: 'DoesNotExist' }] },
  { matchLabels: { team: 'b' }, matchExpressions: [{ key: 'keep', operator: 'In', values: ['no', 'yes'] }] },
];

function randomCase(random: Random, namespace: string): Case {
  const selector = pick(random, SELECTORS);
  const objects = Array.from({ length: OBJECTS }, (_, i) => {
    const labels = {
      ...(random.next() < 0.8 ? { team: pick(random, ['a', 'b', 'c']) } : {}),
      ...(random.next() < 0.3 ? { keep: pick(random, ['yes', 'no']) } : {}),
    };
    return run(`r${i}`, { namespace, labels, finished: seconds(Math.floor(random.next() * 1200)) });
  });
  const parsed = parseLabelSelector(buildSelection(selector, 'spec.selector').text);
  const selected = objects.filter(({ metadata }) => matchesLabels(parsed, metadata.labels ?? {})).length;
  const byCount = random.next() < 0.7;
  const maxDeletions = 1 + Math.floor(random.next() * 15);
  const maxPercent = 1 + Math.floor(random.next() * 60);
  const share = Math.ceil((selected * maxPercent) / 100);
  const limits = byCount ? { maxDeletions, per: PER } : { maxPercent, per: PER };
  return {
    namespace,
    policy: ttlPolicy('runs', { selector, limits }, { namespace }),
    objects,
    allowed: byCount ? maxDeletions : share,
  };
}

/** Some policies stop and some do not: returns how many stopped. */
export async function limitRound(scene: Scene, seed: number, policies: number): Promise<number> {
  const { given, when } = scene;
  const random = seededRandom(seed);
  given.seed(seed);
  start(given, { ttlPolicy: { deletionEvents: false } });
  given.noDoubleRun('faults may still be in effect');
  const cases = Array.from({ length: policies }, (_, i) => randomCase(random, `ns-${i}`));
  await given.object(
    cases.map(({ namespace }) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })),
  );
  await given.object(cases.flatMap(({ policy, objects }) => [...objects, policy]));
  for (let step = 0; step < 8; step++) {
    await disturb(scene, random);
    await when.timePasses(seconds(10 + Math.floor(random.next() * 300)));
  }
  await when.faultsEnd();
  await when.timePasses(minutes(20));
  const { user } = await scene.simulation();
  let stopped = 0;
  for (const { namespace, allowed, objects } of cases) {
    const { items } = await user.list(PipelineRun, { namespace });
    const deleted = objects.length - items.length;
    expect(deleted, `seed ${seed}, ${namespace}: the limit is ${allowed}`).toBeLessThanOrEqual(allowed);
    if (deleted > 0 && items.length > 0) stopped++;
  }
  return stopped;
}

async function disturb({ when }: Scene, random: Random): Promise<void> {
  const times = 1 + Math.floor(random.next() * 10);
  switch (Math.floor(random.next() * 8)) {
    case 0:
      return when.processRestarts();
    case 1:
      // In the middle of the deletions.
      when.justBefore('DELETE', () => when.processCrashes({ downFor: minutes(1) }));
      return;
    case 2:
      return when.processCrashes({ downFor: seconds(Math.floor(random.next() * 100)) });
    case 3:
      await when.leadershipIsLost();
      await when.timePasses(seconds(30));
      return when.leadershipReturns();
    case 4:
      return when.serverAnswers('PATCH', { drop: 'after' }, { times });
    case 5:
      return when.serverAnswers('DELETE', { drop: pick(random, ['after', 'before']) }, { times });
    case 6:
      return when.serverAnswers('PATCH', pick(random, [409, 500, 503]), { times });
    default:
      return;
  }
}
