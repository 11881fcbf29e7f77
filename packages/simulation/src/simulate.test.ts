import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import { defineKind } from '@lapse/kube/api/kind';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { settled, waitUntil } from '@lapse/runtime/outcome';
import { expect, test } from 'vitest';
import { endingAt, expiring, note, simulated } from './expiring.testkit.ts';
import { normalize } from './timeline.ts';

test(
  'objects are deleted at their deadline, not at the end of the step, with one line each',
  simulated(async (simulation) => {
    await simulation.apply([note('a', minutes(10)), note('b', minutes(5), 'kube-system'), note('c')]);
    await simulation.timePasses(hours(1));
    expect(await simulation.get('configmap/c')).toBeDefined();
    expect(await simulation.get('cm/a')).toBeUndefined();
    expect(simulation.timeline()).toBe(
      [
        '+00:00  configmap/a                waiting    until +10:00 (expiry)',
        '+00:00  kube-system/configmap/b    waiting    until +05:00 (expiry)',
        '+05:00  kube-system/configmap/b    deleted    lag=0s',
        '+10:00  configmap/a                deleted    lag=0s',
      ].join('\n'),
    );
    expect(simulation.writes().map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'DELETE /api/v1/namespaces/kube-system/configmaps/b 200',
      'DELETE /api/v1/namespaces/default/configmaps/a 200',
    ]);
  }),
);

test(
  'an idle cluster has no wake-up in ten thousand hours',
  simulated(async (simulation) => {
    await simulation.apply(note('a', hours(9999)));
    await simulation.timePasses(hours(10_000));
    expect(simulation.requests.filter(({ verb }) => verb === 'watch')).toHaveLength(1);
    expect(await simulation.get('cm/a')).toBeUndefined();
  }),
);

test(
  '`until` stops when the predicate holds and returns the elapsed time',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    const gone = async () => (await simulation.get('cm/a')) === undefined;
    expect(await simulation.until(gone, hours(1))).toBe(minutes(10));
    await expect(simulation.until(() => false, hours(1))).rejects.toThrow('did not hold within 3600 s');
  }),
);

test(
  'a stopped process does nothing, and the next one handles all overdue objects',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    await simulation.stop();
    expect(simulation.running).toBe(false);
    await simulation.timePasses(minutes(30));
    expect(await simulation.get('cm/a')).toBeDefined();
    await simulation.restart();
    expect(normalize(simulation.timeline())).toContain('+30:00  configmap/a  deleted  lag=20m');
  }),
);

test(
  'a killed process has no timers, no watches and receives no responses',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    simulation.crash();
    const { length } = simulation.requests;
    await simulation.apply(note('b', minutes(1)));
    await simulation.timePasses(hours(1));
    expect(simulation.requests).toHaveLength(length);
    expect(simulation.server.undelivered()).toBe(0);
    // Only the simulator's own watches are left, which end in thirty years.
    expect(simulation.clock.next()! - simulation.clock.now()).toBeGreaterThan(hours(24 * 365));
    await simulation.restart();
    expect(await simulation.get('cm/b')).toBeUndefined();
  }),
);

test(
  'the server handles a request of a process that is killed before the response',
  simulated(async (simulation) => {
    simulation.faults.answer('DELETE', { hang: 'after' });
    await simulation.apply(note('a', minutes(10)));
    await simulation.timePasses(minutes(10));
    expect(await simulation.get('cm/a')).toBeUndefined();
    expect(simulation.requests.at(-1)).toMatchObject({ method: 'DELETE', status: 'pending' });
    simulation.crash();
    await simulation.restart();
    expect(await simulation.doubleRun()).toEqual({ objects: 0, reconciled: 0, writes: [] });
  }),
);

test(
  'a process whose clock is ahead deletes early by the server’s time',
  simulated(async (simulation) => {
    await simulation.skewProcess(seconds(90));
    await simulation.apply(note('a', minutes(10)));
    await simulation.timePasses(minutes(9));
    const end = simulation.changes.at(-1)!;
    expect(end).toMatchObject({ name: 'a', by: 'process' });
    expect(end.after).toBeUndefined();
    expect(simulation.timeline()).toContain('lag=-1m30s');
  }),
);

test(
  'timers fire when the clock is set forward, and everything is reconciled when it is set back',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    await simulation.jumpProcess(minutes(11));
    expect(await simulation.get('cm/a')).toBeUndefined();
    await simulation.apply(note('b', hours(2)));
    const { length } = simulation.reconciles;
    await simulation.jumpProcess(minutes(-30));
    expect(simulation.reconciles.length).toBeGreaterThan(length);
  }),
);

test(
  'timestamps of objects come from the server’s clock, not from the process’s',
  simulated(async (simulation) => {
    await simulation.skewServer(minutes(-5));
    await simulation.apply(note('a'));
    expect((await simulation.get('cm/a'))?.metadata.creationTimestamp).toBe('2025-12-31T23:55:00Z');
  }),
);

test(
  'the process does nothing without leadership and catches up when it leads again',
  simulated(async (simulation) => {
    await simulation.apply(note('a', minutes(10)));
    await simulation.setLeading(false);
    await simulation.timePasses(minutes(20));
    expect(await simulation.get('cm/a')).toBeDefined();
    await simulation.setLeading(true);
    expect(await simulation.get('cm/a')).toBeUndefined();
  }),
);

test(
  'a request outside the declared rights fails',
  simulated(
    async (simulation) => {
      await simulation.apply(note('a', minutes(0)));
      expect(simulation.timeline()).toContain(
        "does not declare { group: '', resource: 'configmaps', verbs: ['delete'] }",
      );
      expect(await simulation.get('cm/a')).toBeDefined();
    },
    { compose: () => ({ controllers: [expiring({ rights: [] })] }) },
  ),
);

const labeller = defineController<ConfigMap>({
  name: 'labeller',
  for: ConfigMap,
  rights: [{ group: '', resource: 'configmaps', verbs: ['patch'] }],
  reconcile: async ({ client, key, cache, now }) => {
    if (cache.get(ConfigMap, key)?.metadata.labels?.seen === String(now)) return settled();
    await client.patch(ConfigMap, key, {
      type: 'merge',
      patch: { metadata: { labels: { seen: String(now) } } },
    });
    return waitUntil((now + 1000) as typeof now, 'habit');
  },
}) as ControllerDefinition;

test(
  'the double run detects a controller that writes needlessly',
  simulated(
    async (simulation) => {
      await simulation.apply([note('a'), note('b')]);
      await simulation.timePasses(millis(500));
      const { objects, reconciled, writes } = await simulation.doubleRun();
      expect([objects, reconciled, writes.length]).toEqual([2, 2, 2]);
      expect(normalize(simulation.timeline())).toContain('+00:00  configmap/a  updated  metadata.labels');
    },
    { compose: () => ({ controllers: [labeller] }) },
  ),
);

const finisher = defineController<ConfigMap>({
  name: 'finisher',
  for: ConfigMap,
  rights: [],
  reconcile: async ({ client, key, cache }) => {
    if (cache.get(ConfigMap, key)?.data?.want !== 'end') return settled();
    await client.delete(ConfigMap, key);
    return settled();
  },
}) as ControllerDefinition;

test(
  'faults do not affect simulated controllers, and their writes are not counted for the process',
  simulated(
    async (simulation) => {
      simulation.faults.answer('*', 500, { times: Number.POSITIVE_INFINITY });
      await simulation.apply({ ...note('a'), data: { want: 'end' } });
      expect(await simulation.get('cm/a')).toBeUndefined();
      expect(simulation.writes()).toEqual([]);
      expect(normalize(simulation.timeline())).toBe(
        '+00:00  configmap/a  deleted  by a simulated controller',
      );
    },
    { simulatedControllers: [finisher], compose: () => ({ controllers: [] }) },
  ),
);

const Gadget = defineKind({
  group: 'test.lapse.dev',
  version: 'v1',
  kind: 'Gadget',
  resource: 'gadgets',
  namespaced: false,
});
const gadget = defineCustomKind({
  kind: Gadget,
  spec: { type: 'object', properties: { size: { type: 'integer' } } },
  status: { type: 'object', properties: { phase: { type: 'string' } } },
  description: 'Something of ours.',
  shortNames: ['gg'],
});

test(
  'custom kinds are served from the start, and YAML manifests are applied with their status',
  simulated(
    async (simulation) => {
      await simulation.apply(`
apiVersion: test.lapse.dev/v1
kind: Gadget
metadata: { name: g }
spec: { size: 3 }
status: { phase: New }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: other }
`);
      expect(await simulation.get('gg/g')).toMatchObject({ spec: { size: 3 }, status: { phase: 'New' } });
      expect(await simulation.get('configmaps/other')).toBeDefined();
      await simulation.apply(
        '{apiVersion: test.lapse.dev/v1, kind: Gadget, metadata: {name: g}, status: {phase: Old}}',
      );
      expect(normalize(simulation.timeline())).toBe(
        '+00:00  gadget/g  phase=New\n+00:00  gadget/g  phase=Old',
      );
    },
    { kinds: [gadget] },
  ),
);

test(
  'admission functions are active while the process runs',
  simulated(
    async (simulation) => {
      await expect(simulation.apply(note('a'))).rejects.toThrow('no ConfigMaps today');
      simulation.crash();
      await simulation.apply(note('a'));
    },
    {
      compose: () => ({
        controllers: [expiring()],
        admission: [
          {
            name: 'no.test',
            resources: ['configmaps'],
            phase: 'validating',
            review: () => ({ allowed: false, message: 'no ConfigMaps today' }),
          },
        ],
      }),
    },
  ),
);

test('invalid object references are rejected with a message', async () => {
  await simulated(async (simulation) => {
    await expect(simulation.get('report')).rejects.toThrow('is not "kind/name"');
    await expect(simulation.get('thing/report')).rejects.toThrow('no kind called "thing"');
    await expect(simulation.apply('kind: Nothing')).rejects.toThrow('not a Kubernetes object');
    await expect(simulation.patch('cm/none', endingAt(minutes(1)))).rejects.toThrow('not found');
    expect(await simulation.delete('cm/none')).toBe(false);
  })();
});
