// An extension that the API server accepted before the DELETE is honored: the precondition of the DELETE, or of the note
// that the deletion starts, fails, and the object is evaluated again.

import { formatTime, hours, minutes, seconds } from '@lapse/base/instant';
import { KubeEvent } from '@lapse/runtime/events/build';
import type { RequestInfo } from '@lapse/simulation/requestInfo';
import { describe, expect } from 'vitest';
import { begin, cleaner, configMap, reasonOf, statusOf, target } from './cleaner/kit.ts';
import { at, finishedJob } from './kit.ts';
import { run, ttlPolicy } from './pipelineRuns.ts';
import { start } from './policyScenarios.ts';
import { scenario } from './scenario.ts';
import type { Scene } from './scene.ts';

const annotate = (name: string, value: string | null) => ({ metadata: { annotations: { [name]: value } } });
const LATER = formatTime(at(hours(5)));
const delayed = annotate('lapse.dev/delay-until', LATER);

scenario(
  'a Job whose TTL is extended just before its DELETE is kept until then',
  async ({ given, when, then }) => {
    given.controllers('ttl-after-finished');
    await given.object(finishedJob('report', { ttl: minutes(10) }));
    when.justBefore('DELETE', () =>
      when.user.patch('job/report', { spec: { ttlSecondsAfterFinished: 5 * 3600 } }),
    );
    await when.timePasses(hours(4));
    await then.exists('job/report');
    await when.timePasses(hours(1));
    await then.isTerminating('job/report');
  },
);

scenario(
  'a policy target that is extended just before its DELETE is kept until then',
  async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs', { allowOverrides: true }), run('done', { finished: seconds(0) })]);
    when.justBefore('DELETE', () =>
      when.user.patch('pipelinerun/done', annotate('lapse.dev/expires-at', LATER)),
    );
    await when.timePasses(hours(4));
    await then.exists('pipelinerun/done');
    await when.timePasses(hours(1));
    await then.isGone('pipelinerun/done');
  },
);

const isStatusWith =
  (word: string) =>
  ({ resource, subresource, body }: RequestInfo) =>
    resource === 'cleaners' && subresource === 'status' && Buffer.from(body ?? []).includes(word);

async function givenCleaner(scene: Scene): Promise<void> {
  begin(scene);
  await scene.given.object([
    configMap('a'),
    cleaner({ targets: [target('a', 'a', { delete: true, include: true })] }),
  ]);
}

async function isKeptUntilLater(scene: Scene): Promise<void> {
  const { when, then } = scene;
  await when.timePasses(hours(4));
  await then.exists('configmap/a');
  expect(await reasonOf(scene)).toBe('NotExpired');
  expect(await statusOf(scene)).toMatchObject({ nextScheduledEvaluation: LATER });
  expect((await statusOf(scene)).deletion).toBeUndefined();
  await when.timePasses(hours(1));
  await then.isGone('configmap/a');
  await then.isGone('cleaner/c');
}

describe('a Cleaner that is delayed', () => {
  scenario('while it waits for its TTL is evaluated at the new time', async (scene) => {
    await givenCleaner(scene);
    await scene.when.timePasses(minutes(10));
    await scene.when.user.patch('cleaner/c', delayed);
    await isKeptUntilLater(scene);
  });

  scenario('just before its decision is recorded keeps its targets', async (scene) => {
    await givenCleaner(scene);
    scene.when.justBefore(isStatusWith('evaluatedAt'), () => scene.when.user.patch('cleaner/c', delayed));
    await isKeptUntilLater(scene);
  });

  scenario('after its decision is recorded, before the first DELETE, keeps its targets', async (scene) => {
    await givenCleaner(scene);
    scene.when.justBefore(isStatusWith('startedAt'), () => scene.when.user.patch('cleaner/c', delayed));
    await isKeptUntilLater(scene);
    const { items } = await (await scene.simulation()).user.list(KubeEvent);
    const [event] = items.filter(({ reason }) => reason === 'DecisionDiscarded');
    expect(event?.note).toContain(`delayed until ${LATER} (annotation lapse.dev/delay-until)`);
  });

  scenario('after a crash between its record and the first DELETE keeps its targets', async (scene) => {
    await givenCleaner(scene);
    const simulation = await scene.simulation();
    scene.when.serverAnswers('delete configmaps', { drop: 'before' });
    scene.when.justBefore('delete configmaps', () => simulation.crash());
    await scene.when.timePasses(hours(1));
    await scene.when.user.patch('cleaner/c', delayed);
    await scene.when.processRestarts();
    await scene.when.timePasses(hours(3));
    await scene.then.exists('configmap/a');
    expect(await reasonOf(scene)).toBe('NotExpired');
  });

  scenario('with nothing left to delete, just before its own DELETE, is kept', async (scene) => {
    begin(scene);
    await scene.given.object(cleaner({ targets: [target('a', 'a', { delete: true })] }));
    scene.when.justBefore('delete cleaners', () => scene.when.user.patch('cleaner/c', delayed));
    await scene.when.timePasses(hours(4));
    await scene.then.exists('cleaner/c');
    await scene.when.timePasses(hours(1));
    await scene.then.isGone('cleaner/c');
  });

  scenario('is evaluated at once after its release', async (scene) => {
    await givenCleaner(scene);
    await scene.when.user.patch('cleaner/c', delayed);
    await scene.when.timePasses(hours(2));
    await scene.then.exists('configmap/a');
    await scene.when.user.patch('cleaner/c', annotate('lapse.dev/delay-until', null));
    await scene.when.timePasses(seconds(1));
    await scene.then.isGone('configmap/a');
  });

  scenario('is not deleted earlier than its TTL', async (scene) => {
    await givenCleaner(scene);
    await scene.when.user.patch('cleaner/c', annotate('lapse.dev/delay-until', formatTime(at(minutes(1)))));
    await scene.when.timePasses(minutes(59));
    await scene.then.exists('configmap/a');
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/a');
  });
});

describe('a Cleaner with an annotation that keeps it', () => {
  scenario('never is kept until it is released', async (scene) => {
    await givenCleaner(scene);
    await scene.when.user.patch('cleaner/c', annotate('lapse.dev/ttl', 'never'));
    await scene.when.timePasses(hours(48));
    await scene.then.exists('configmap/a');
    expect(await reasonOf(scene)).toBe('OptedOut');
    await scene.when.user.patch('cleaner/c', annotate('lapse.dev/ttl', null));
    await scene.when.timePasses(seconds(1));
    await scene.then.isGone('configmap/a');
  });

  scenario('a time that cannot be parsed keeps it and is reported', async (scene) => {
    await givenCleaner(scene);
    await scene.when.user.patch('cleaner/c', annotate('lapse.dev/delay-until', 'tomorrow'));
    await scene.when.timePasses(hours(48));
    await scene.then.exists('configmap/a');
    expect(await reasonOf(scene)).toBe('InvalidAnnotation');
  });
});
