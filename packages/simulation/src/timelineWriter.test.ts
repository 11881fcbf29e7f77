import { type Instant, instant } from '@lapse/base/instant';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { again, failed, type Outcome, settled, terminal, waitUntil } from '@lapse/runtime/outcome';
import { expect, test } from 'vitest';
import { Timeline } from './timeline.ts';
import { TimelineWriter } from './timelineWriter.ts';

function make() {
  let now = 0;
  const timeline = new Timeline(instant(0));
  const narrator = new TimelineWriter(
    timeline,
    () => instant(now),
    () => ConfigMap,
  );
  const at = (seconds: number) => instant(seconds * 1000);
  return {
    lines: () => timeline.lines().map(({ action, detail }) => `${action} ${detail}`.trim()),
    at,
    goes: (seconds: number) => {
      now = seconds * 1000;
    },
    pass: (outcome: Outcome, controller = 'c') =>
      narrator.reconcile({
        controller,
        key: 'default/a',
        reason: '',
        now: instant(now),
        at: instant(now),
        outcome,
        took: 0 as never,
      }),
    change: (
      before: Partial<KubeObject['metadata']> | undefined,
      after?: Partial<KubeObject['metadata']>,
    ) => {
      const object = (metadata: object): KubeObject => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'default', ...metadata },
      });
      narrator.change({
        at: instant(now),
        serverAt: instant(now) as Instant,
        group: '',
        resource: 'configmaps',
        kind: 'ConfigMap',
        namespace: 'default',
        name: 'a',
        by: 'process',
        ...(before === undefined ? {} : { before: object(before) }),
        ...(after === undefined ? {} : { after: object(after) }),
      });
    },
  };
}

test('a wait has one line, and another when the deadline changes', () => {
  const { pass, lines, at } = make();
  pass(waitUntil(at(60), 'ttl'));
  pass(waitUntil(at(60), 'ttl'));
  pass(waitUntil(at(90), 'ttl'));
  expect(lines()).toEqual(['waiting until +01:00 (ttl)', 'waiting until +01:30 (ttl was extended)']);
});

test('every outcome but settled has a line, and API errors show their reason', () => {
  const { pass, lines } = make();
  pass(settled());
  pass(again('contended'));
  pass(failed(new ApiError(403, 'Forbidden', 'uid 1 may not')));
  pass(failed(new Error('first line\nsecond')));
  pass(terminal('Broken', 'for good'));
  expect(lines()).toEqual([
    'again contended',
    'failed Forbidden',
    'failed first line',
    'gave up Broken: for good',
  ]);
});

test('the lag is measured from the last due deadline of all controllers', () => {
  const { pass, change, lines, at, goes } = make();
  pass(waitUntil(at(10), 'safety'), 'one');
  pass(waitUntil(at(60), 'ttl'), 'two');
  pass(waitUntil(at(600), 'later'), 'three');
  goes(65);
  change({});
  expect(lines().at(-1)).toBe('deleted lag=5s');
});

test('a dropped deadline does not count for the lag, a due one does', () => {
  const { pass, change, lines, at, goes } = make();
  pass(waitUntil(at(10), 'ttl'), 'one');
  pass(waitUntil(at(600), 'ttl'), 'two');
  pass(settled(), 'two');
  goes(12);
  pass(settled(), 'one');
  change({});
  expect(lines().at(-1)).toBe('deleted lag=2s');
});

test('the lag is negative before a deadline and empty without one, and a hold is not a deadline', () => {
  const early = make();
  early.pass(waitUntil(early.at(10), 'ttl'));
  early.change({});
  expect(early.lines().at(-1)).toBe('deleted lag=-10s');
  const free = make();
  free.pass(waitUntil(free.at(10), 'held: budget'));
  free.change({});
  expect(free.lines().at(-1)).toBe('deleted');
});

test('a deletion has one line if it took no time, otherwise two', () => {
  const quick = make();
  quick.pass(waitUntil(quick.at(0), 'ttl'));
  quick.change({}, { deletionTimestamp: 'x', finalizers: ['f'] });
  quick.pass(waitUntil(quick.at(600), 'terminating'));
  quick.change({ deletionTimestamp: 'x' });
  expect(quick.lines()).toEqual(['waiting until +00:00 (ttl)', 'deleted lag=0s']);
  const slow = make();
  slow.change({}, { deletionTimestamp: 'x', finalizers: ['f'] });
  slow.goes(5);
  slow.change({ deletionTimestamp: 'x' });
  expect(slow.lines()).toEqual(['terminating waits for f', 'deleted']);
});

test('uids are replaced by the names of their objects', () => {
  const { pass, change, lines } = make();
  const uid = '0a1b2c3d-0000-4000-8000-000000000001';
  change({}, { uid });
  pass(again(`made for ${uid}`));
  pass(again('made for 0a1b2c3d-0000-4000-8000-000000000002'));
  expect(lines()).toEqual(['updated metadata.uid', 'again made for <a>', 'again made for <uid>'].slice(1));
});
