import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { endingAt, expiring, note, simulated } from './expiring.testkit.ts';
import type { Fault } from './faults.ts';
import type { Simulation } from './simulate.ts';
import type { WatchBreak } from './streams.ts';
import { normalize } from './timeline.ts';

const deletes = (simulation: Simulation) =>
  simulation.requests.filter(({ verb }) => verb === 'delete').map(({ status }) => status);
const lines = (simulation: Simulation) => normalize(simulation.timeline()).split('\n');
const exists = async (simulation: Simulation, name = 'a') =>
  (await simulation.get(`cm/${name}`)) !== undefined;

describe('one DELETE fails and the next one succeeds', () => {
  // The statuses the process received, whether the server handled the first DELETE, and the line in the timeline.
  const table: Record<string, { fault: Fault | number; seen: unknown[]; atOnce: boolean; says: string }> = {
    '409': {
      fault: 409,
      seen: [409, 200],
      atOnce: false,
      says: 'delete refused  conflict: changed since read',
    },
    '403': { fault: 403, seen: [403, 200], atOnce: false, says: 'delete refused  forbidden' },
    '429 with Retry-After': {
      fault: { answer: 429, retryAfter: 7 },
      seen: [429, 200],
      atOnce: false,
      says: 'delete refused  too many requests',
    },
    '500': { fault: 500, seen: [500, 200], atOnce: false, says: 'delete refused  internal error' },
    '503 with another reason and message': {
      fault: { answer: 503, reason: 'ServiceUnavailable', message: 'later' },
      seen: [503, 200],
      atOnce: false,
      says: 'delete refused  service unavailable',
    },
    'the connection breaks before the server receives the request': {
      fault: { drop: 'before' },
      seen: ['lost', 200],
      atOnce: false,
      says: 'delete unanswered',
    },
    'the response is lost': {
      fault: { drop: 'after' },
      seen: ['lost', 404],
      atOnce: true,
      says: 'delete unanswered',
    },
    'the request hangs before the server receives it': {
      fault: { hang: 'before' },
      seen: ['lost', 200],
      atOnce: false,
      says: 'delete unanswered',
    },
    'the response hangs': {
      fault: { hang: 'after' },
      seen: ['lost', 404],
      atOnce: true,
      says: 'delete unanswered',
    },
    'the request is delayed': {
      fault: { delay: seconds(9), when: 'before' },
      seen: [200],
      atOnce: false,
      says: 'deleted  lag=9s',
    },
    'the response is delayed': {
      fault: { delay: seconds(9), when: 'after' },
      seen: [200],
      atOnce: true,
      says: 'deleted  lag=0s',
    },
    'the server receives the request twice': {
      fault: { duplicate: true },
      seen: [200],
      atOnce: true,
      says: 'deleted  lag=0s',
    },
    'the server is unreachable': {
      fault: { unreachable: true },
      seen: ['lost', 200],
      atOnce: false,
      says: 'delete unanswered',
    },
  };
  test.each(Object.entries(table))('%s', (_name, { fault, seen, atOnce, says }) =>
    simulated(async (simulation) => {
      await simulation.apply(note('a', minutes(10)));
      simulation.faults.answer('DELETE', fault);
      await simulation.timePasses(minutes(10));
      expect(await exists(simulation)).toBe(!atOnce);
      await simulation.timePasses(minutes(5));
      expect(await exists(simulation)).toBe(false);
      // A retry after the object is known to be deleted is allowed but not required.
      expect(seen.slice(0, deletes(simulation).length)).toEqual(deletes(simulation));
      expect(lines(simulation).some((line) => line.includes(says))).toBe(true);
    })(),
  );
});

test(
  'the process waits for the Retry-After of the server',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    simulation.faults.answer('DELETE', { answer: 429, retryAfter: 30 });
    await simulation.timePasses(minutes(20));
    const [first, second] = simulation.requests.filter(({ verb }) => verb === 'delete');
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(30_000);
  }),
);

test(
  'a fault affects the configured number of matching requests',
  simulated(async (simulation) => {
    await simulation.apply([note('a', minutes(10)), note('b', minutes(10))]);
    simulation.faults.answer('delete configmaps b', 500, { times: 3 });
    await simulation.timePasses(hours(1));
    expect(simulation.requests.filter(({ name }) => name === 'a').map(({ status }) => status)).toEqual([200]);
    expect(simulation.requests.filter(({ name }) => name === 'b').map(({ status }) => status)).toEqual([
      500, 500, 500, 200,
    ]);
  }),
);

test(
  'a hook can act as another client just before a request',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    simulation.faults.justBefore('DELETE', () => simulation.userClient.patch('cm/a', endingAt(minutes(60))));
    await simulation.timePasses(hours(2));
    expect(lines(simulation)).toEqual([
      '+00:00  configmap/a  waiting  until +10:00 (expiry)',
      '+10:00  configmap/a  delete refused  conflict: changed since read',
      '+10:00  configmap/a  again  changed',
      '+10:00  configmap/a  waiting  until +60:00 (expiry was extended)',
      '+60:00  configmap/a  deleted  lag=0s',
    ]);
  }),
);

describe('no change is missed when watches break', () => {
  test.each<WatchBreak>(['end', 'cut', 'gone'])('%s', (how) =>
    simulated(async (simulation) => {
      await simulation.apply(note('a', minutes(10)));
      simulation.faults.breakWatches(how);
      await simulation.userClient.patch('cm/a', endingAt(minutes(20)));
      await simulation.timePasses(minutes(15));
      expect(await exists(simulation)).toBe(true);
      await simulation.timePasses(minutes(5));
      expect(await exists(simulation)).toBe(false);
      const asked = (verb: string) => simulation.requests.filter((request) => request.verb === verb).length;
      expect(asked('watch')).toBe(2);
      expect(asked('list')).toBe(how === 'gone' ? 2 : 1);
    })(),
  );
});

test(
  'with stale caches the process decides on old state and the server rejects the write',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    simulation.faults.holdEvents();
    await simulation.userClient.patch('cm/a', endingAt(minutes(30)));
    await simulation.timePasses(minutes(10));
    expect(deletes(simulation)[0]).toBe(409);
    expect(await exists(simulation)).toBe(true);
    simulation.faults.releaseEvents();
    await simulation.settle();
    await simulation.timePasses(minutes(20));
    expect(await exists(simulation)).toBe(false);
  }),
);

test(
  'duplicated watch events have no effect',
  simulated(async (simulation) => {
    simulation.faults.duplicateEvents();
    await simulation.apply(note('a', minutes(10)));
    await simulation.timePasses(minutes(10));
    expect(simulation.reconciles.filter(({ outcome }) => outcome.kind === 'waitUntil')).toHaveLength(1);
    expect(deletes(simulation)).toEqual([200]);
  }),
);

test(
  'a slow server delays all requests while the clock advances',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    simulation.faults.slowServer(seconds(4));
    await simulation.timePasses(minutes(11));
    expect(lines(simulation).at(-1)).toBe('+10:04  configmap/a  deleted  lag=4s');
  }),
);

test(
  'the clock advances and all keys are reconciled when more requests hang than there are workers',
  simulated(
    async (simulation) => {
      const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
      await simulation.apply(names.map((name) => note(name, minutes(10))));
      simulation.faults.answer('DELETE', { hang: 'before' }, { times: 10 });
      await simulation.timePasses(minutes(10));
      expect(simulation.reconciles.filter(({ at }) => at === simulation.clock.now())).toHaveLength(0);
      await simulation.timePasses(minutes(10));
      expect(
        (
          await simulation.user.list({
            group: '',
            version: 'v1',
            kind: 'ConfigMap',
            resource: 'configmaps',
            namespaced: true,
          })
        ).items,
      ).toEqual([]);
    },
    { compose: () => ({ controllers: [expiring({ concurrency: 2 })] }) },
  ),
);

test(
  'the process catches up after the connection is restored',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    simulation.faults.disconnect();
    await simulation.userClient.apply(note('b', minutes(1)));
    await simulation.timePasses(minutes(30));
    expect(await exists(simulation)).toBe(true);
    simulation.faults.heal();
    await simulation.until(
      async () => !(await exists(simulation)) && !(await exists(simulation, 'b')),
      minutes(5),
    );
  }),
);

test(
  'a process with hanging requests can be stopped within some (virtual) seconds',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    simulation.faults.answer('DELETE', { hang: 'before' });
    await simulation.timePasses(minutes(10));
    const began = simulation.clock.now();
    await simulation.stop();
    expect(simulation.clock.now() - began).toBeLessThanOrEqual(10_000);
    expect(simulation.running).toBe(false);
    await simulation.restart();
    await simulation.timePasses(millis(1));
    expect(await exists(simulation)).toBe(false);
  }),
);
