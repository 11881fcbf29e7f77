// The simulated Job controller with the status validation of the embedded server.

import { Job } from '@lapse/kube/api/kinds/builtin';
import type { World } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { FINISH } from '../finish.ts';
import { beside, make as create } from '../simulatedController.testkit.ts';
import { jobFinisher } from './controller.ts';

const finisher = () => [jobFinisher()];
const key = { namespace: 'default', name: 'j' };

const make = (world: World, finish: string | undefined, spec: object = {}): Promise<Job> =>
  create(world, Job, {
    metadata: { ...key, ...(finish === undefined ? {} : { annotations: { [FINISH]: finish } }) },
    spec: {
      ...spec,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    },
  });
const statusOf = async (world: World): Promise<string> => {
  const status = (await world.user.get(Job, key))?.status ?? {};
  const conditions = (status.conditions ?? []).map(({ type, status: is }) => `${type}=${is}`);
  return [
    `active ${status.active ?? 0}`,
    `succeeded ${status.succeeded ?? 0}`,
    `failed ${status.failed ?? 0}`,
  ]
    .concat(conditions)
    .join(', ');
};

test(
  'a Job runs and succeeds at the requested time',
  beside(finisher, async (world) => {
    await make(world, 'succeeded after 5s', { completions: 3, parallelism: 2 });
    await world.pass(4999);
    expect(await statusOf(world)).toBe('active 2, succeeded 0, failed 0');
    await world.pass(1);
    expect(await statusOf(world)).toBe(
      'active 0, succeeded 3, failed 0, SuccessCriteriaMet=True, Complete=True',
    );
    expect(world.timeline().at(-1)).toBe('+5000 default/j settled');
    expect(world.writes()).toHaveLength(3);
  }),
);

test(
  'an indexed Job fails at the requested time',
  beside(finisher, async (world) => {
    await make(world, 'failed after 1m', { completions: 2, completionMode: 'Indexed', backoffLimit: 0 });
    await world.pass(60_000);
    expect(await statusOf(world)).toBe('active 0, succeeded 0, failed 1, FailureTarget=True, Failed=True');
  }),
);

test(
  'a suspended Job starts when it is resumed',
  beside(finisher, async (world) => {
    await make(world, 'succeeded after 5s', { suspend: true });
    await world.pass(60_000);
    expect(world.writes()).toEqual([]);
    await world.user.patch(Job, key, { type: 'merge', patch: { spec: { suspend: false } } });
    await world.pass(5000);
    expect(await statusOf(world)).toMatch(/Complete=True/);
  }),
);

test(
  'an invalid annotation is reported once until it is corrected',
  beside(finisher, async (world) => {
    await make(world, 'soon');
    await world.pass(3_600_000);
    await world.user.patch(Job, key, { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } });
    await world.pass(3_600_000);
    expect(world.notes).toEqual(['j Warning InvalidFinish']);
    expect(world.writes()).toEqual([]);
    expect(world.reconciles).toHaveLength(1);
    await world.user.patch(Job, key, {
      type: 'merge',
      patch: { metadata: { annotations: { [FINISH]: 'succeeded after 1s' } } },
    });
    await world.pass(1000);
    expect(await statusOf(world)).toMatch(/Complete=True/);
  }),
);

test(
  'a Job without the annotation is never changed',
  beside(finisher, async (world) => {
    await make(world, undefined);
    await world.pass(3_600_000);
    expect(world.writes()).toEqual([]);
  }),
);
