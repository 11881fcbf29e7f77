import { instant, minutes, plus, seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { DeleteResult } from '@lapse/kube/client/delete';
import { TransportError } from '@lapse/kube/client/transport';
import type { EventNote } from '@lapse/runtime/events/types';
import { Registry } from '@lapse/runtime/metrics/registry';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { ConfigMap, configMap } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { Expirer, type Observed } from './expirer.ts';
import { deletionMetrics } from './metrics.ts';
import { objectId } from './ownDeletions.ts';
import { trustedTime } from './skewGuard.ts';

const TIME = '2026-01-01T00:00:00Z';
const object = (metadata: Partial<KubeObject['metadata']> = {}): ConfigMap =>
  configMap('a', {}, { uid: 'u1', resourceVersion: '7', ...metadata }) as ConfigMap;
const terminating = object({ resourceVersion: '8', deletionTimestamp: TIME });
const key = { namespace: 'default', name: 'a' };
const id = objectId(ConfigMap, key);

type Answer = DeleteResult<ConfigMap>['kind'] | 'changed' | 'lost' | 'aborted' | 'forbidden';

/** An Expirer whose API server gives the answers in order; the last one is repeated. */
class Engine {
  readonly clock = new VirtualClock(instant(Date.parse(TIME)));
  readonly registry = new Registry();
  readonly events: string[] = [];
  readonly counted: string[] = [];
  answers: Answer[] = ['deleted'];
  live: ConfigMap | undefined = object();
  /** The object that `expire` deletes. */
  due = object();
  readonly competing = this.registry.counter('competing', 'x').with();
  readonly expirer = new Expirer<string>({
    clock: this.clock,
    guard: trustedTime(this.clock),
    metrics: deletionMetrics(this.registry, 'x', () => this.clock.now()),
    onDeleted: ({ outcome, because, lag }) => this.counted.push(`${outcome} ${because} ${lag}`),
    deletionEvents: true,
    describe: ({ because }) => because,
    competing: { kind: 'ConfigMap', counter: this.competing, warning: 'x' },
  });

  pass(dryRun = false): ReconcileContext {
    return {
      now: this.clock.now(),
      actingSince: instant(0),
      key,
      losses: 0,
      dryRun,
      log: silentLog,
      cache: { get: () => this.live },
      client: { delete: () => this.#answer(), get: async () => this.live },
      event: (_regarding: unknown, { reason, note }: EventNote) => this.events.push(`${reason}: ${note}`),
    } as unknown as ReconcileContext;
  }

  async #answer(): Promise<DeleteResult<ConfigMap>> {
    const answer = this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!;
    if (answer === 'lost') throw new TransportError('broken', 'lost', { sent: true });
    if (answer === 'aborted') throw new TransportError('aborted', 'the lease was lost', { sent: true });
    if (answer === 'forbidden') throw new ApiError(403, 'Forbidden', 'x');
    if (answer === 'changed')
      return { kind: 'conflict', by: 'changed', error: new ApiError(409, 'Conflict', 'x') };
    return { kind: answer } as DeleteResult<ConfigMap>;
  }

  async expire(...answers: Answer[]): Promise<string> {
    this.answers = answers;
    const target = {
      kind: ConfigMap,
      object: this.due,
      since: plus(this.clock.now(), seconds(-3)),
      because: 'by age',
      decide: () => ({ kind: 'keep', because: undefined }) as const,
    };
    return this.expirer.expire(this.pass(), target).then(
      ({ kind }) => kind,
      () => 'error',
    );
  }

  observe(seen: ConfigMap | undefined): Observed {
    return this.expirer.observe(this.pass(), {
      id,
      kind: ConfigMap,
      object: seen,
      deadline: this.clock.now(),
    });
  }

  metric = (outcome: string) =>
    Number(
      new RegExp(`^lapse_deletions_total.*outcome="${outcome}"} (.*)$`, 'm').exec(this.registry.text())![1],
    );
}

describe('a deletion is counted once, with one Event', () => {
  test.each<[string, Answer[], seen: (ConfigMap | undefined)[], counted: string[]]>([
    ['if the API server answers', ['deleted'], [object(), undefined], ['deleted by age 3000']],
    [
      'if it is accepted and a finalizer keeps the object',
      ['terminating'],
      [object(), terminating, terminating, undefined],
      ['terminating by age 3000'],
    ],
    ['if a retry finds the object gone', ['lost', 'gone'], [object(), undefined], ['deleted by age 3000']],
    ['if the cache shows the removal', ['lost'], [object(), undefined], ['deleted by age 3000']],
    ['if the cache shows another object', ['lost'], [object({ uid: 'u2' })], ['deleted by age 3000']],
    ['if the cache shows it terminating', ['lost'], [terminating, undefined], ['terminating by age 3000']],
    ['unless it failed', ['lost'], [object({ resourceVersion: '8' }), undefined], []],
    ['unless it was refused', ['forbidden'], [object(), undefined], []],
  ])('%s', async (_name, answers, seen, counted) => {
    const engine = new Engine();
    await engine.expire(...answers);
    for (const state of seen) engine.observe(state);
    expect(engine.counted).toEqual(counted);
    expect(engine.metric('deleted') + engine.metric('terminating')).toBe(counted.length);
    expect(engine.events).toEqual(counted.map(() => 'Deleted: by age'));
  });
});

describe('after an accepted DELETE', () => {
  test.each<[string, ConfigMap | undefined, Observed['kind']]>([
    ['the cache may be behind', object(), 'deleting'],
    ['the object may be terminating', terminating, 'terminating'],
    ['the object may be gone', undefined, 'gone'],
    ['another object of the same name is not concerned', object({ uid: 'u2' }), 'alive'],
  ])('%s', async (_name, seen, observed) => {
    const engine = new Engine();
    await engine.expire('terminating');
    expect(engine.observe(seen).kind).toBe(observed);
    expect(engine.competing.value).toBe(0);
  });
});

test('an object with a DELETE in flight is not deleted by a second worker', async () => {
  const engine = new Engine();
  const first = engine.expire('deleted');
  expect(engine.observe(object()).kind).toBe('deleting');
  await first;
});

test('an own deletion does not hide that a competing controller deletes the next object of the same name', async () => {
  const engine = new Engine();
  await engine.expire('deleted');
  engine.observe(object({ uid: 'u2' }));
  engine.observe(undefined);
  expect([engine.competing.value, engine.counted]).toEqual([1, ['deleted by age 3000']]);
});

test('an unanswered DELETE does not count for the next object of the same name', async () => {
  const engine = new Engine();
  await engine.expire('lost');
  engine.due = object({ uid: 'u2', resourceVersion: '9' });
  expect(await engine.expire('gone')).toBe('gone');
  expect(engine.counted).toEqual(['deleted by age 3000']);
});

test('a refused DELETE is forgotten, and the object is decided on again', async () => {
  const engine = new Engine();
  expect(await engine.expire('forbidden')).toBe('error');
  expect(engine.observe(object()).kind).toBe('alive');
});

test('an object that is stuck terminating is reported once, and only if this process deleted it', async () => {
  const engine = new Engine();
  const stuck = (uid: string) => object({ uid, deletionTimestamp: TIME, finalizers: ['example.com/hold'] });
  await engine.expire('terminating');
  const until = plus(instant(Date.parse(TIME)), minutes(10));
  expect(engine.observe(stuck('u1'))).toMatchObject({ outcome: { kind: 'waitUntil', at: until } });
  await engine.clock.advance(minutes(10), async () => {});
  for (let i = 0; i < 2; i++)
    expect(engine.observe(stuck('u1'))).toMatchObject({ outcome: { kind: 'settled' } });
  engine.observe(stuck('u2'));
  expect(engine.events).toEqual([
    'Deleted: by age',
    'StuckTerminating: still terminating 10 minutes after it was deleted: kept by the finalizer example.com/hold',
  ]);
});

test.each<[string, ConfigMap | undefined]>([
  ['gone', undefined],
  ['terminating', terminating],
])('a deletion by another client at the deadline counts as competing: the object is %s', (_name, seen) => {
  const engine = new Engine();
  engine.observe(object());
  engine.observe(seen);
  expect([engine.competing.value, engine.counted]).toEqual([1, []]);
});

describe('on a standby, a DELETE that was in flight when the lease was lost', () => {
  test.each<[string, after: number, ConfigMap | undefined, counted: string[]]>([
    ['is counted if the object is gone', 4, undefined, ['deleted by age 7000']],
    ['is counted if the object is terminating', 4, terminating, ['terminating by age 7000']],
    ['is not counted while its result is unknown', 4, object(), []],
    ['is not counted if the next leader may have deleted the object', 5, undefined, []],
  ])('%s', async (_name, after, seen, counted) => {
    const engine = new Engine();
    engine.live = object();
    await engine.expire('aborted');
    engine.expirer.pause();
    await engine.clock.advance(seconds(after), async () => {});
    engine.expirer.observeOnStandby(id, seen);
    engine.expirer.observeOnStandby(id, seen);
    expect([engine.counted, engine.events]).toEqual([counted, []]);
  });
});

test('a dry run is counted once per object and deadline, and the object is not an own deletion', async () => {
  const engine = new Engine();
  const target = {
    kind: ConfigMap,
    object: object(),
    since: engine.clock.now(),
    because: 'by age',
    decide: () => ({ kind: 'keep', because: undefined }) as const,
  };
  for (let i = 0; i < 2; i++) await engine.expirer.expire(engine.pass(true), target);
  expect(engine.counted).toEqual(['wouldDelete by age 0']);
  expect(engine.observe(object()).kind).toBe('alive');
});

test('a report is emitted once per object and reason', () => {
  const engine = new Engine();
  const report = (uid: string, because: string) =>
    engine.expirer.reportOnce(engine.pass(), ConfigMap, object({ uid }), {
      because,
      reason: because,
      note: 'x',
    });
  expect([report('u1', 'A'), report('u1', 'A'), report('u1', 'B'), report('u2', 'A')]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(engine.events).toEqual(['A: x', 'B: x', 'A: x']);
});

/** As a record contains it: without the resourceVersion, unless the object was read again. */
function recordedTarget(engine: Engine, resourceVersion?: string) {
  const metadata = { name: 'a', namespace: 'default', uid: 'u1' };
  return {
    kind: ConfigMap,
    object: {
      ...object(),
      metadata: resourceVersion === undefined ? metadata : { ...metadata, resourceVersion },
    },
    since: plus(engine.clock.now(), seconds(-3)),
    because: 'by record',
    client: engine.pass().client,
  };
}

describe('a DELETE of a recorded decision', () => {
  test.each<[string, version: string | undefined, Answer[], results: string[], counted: number]>([
    ['is counted when it is accepted', undefined, ['deleted'], ['deleted'], 1],
    ['is counted when a finalizer keeps the object', undefined, ['terminating'], ['terminating'], 1],
    ['is counted when the retry finds the object gone', undefined, ['lost', 'gone'], ['error', 'deleted'], 1],
    [
      'is counted when another object has the name later',
      undefined,
      ['lost', 'changed'],
      ['error', 'deleted'],
      1,
    ],
    ['is not counted when the object was gone before', undefined, ['gone'], ['gone'], 0],
    ['is not counted when another object has the name', undefined, ['changed'], ['gone'], 0],
    ['is not counted when the object changed', '7', ['changed'], ['changed'], 0],
    ['is not counted when it is refused', undefined, ['forbidden', 'gone'], ['error', 'gone'], 0],
  ])('%s', async (_name, resourceVersion, answers, results, counted) => {
    const engine = new Engine();
    const target = recordedTarget(engine, resourceVersion);
    const found: string[] = [];
    for (const answer of answers) {
      engine.answers = [answer];
      found.push(
        await engine.expirer.expireRecorded(engine.pass(), target).then(
          ({ kind }) => kind,
          () => 'error',
        ),
      );
    }
    expect([found, engine.counted.length]).toEqual([results, counted]);
  });
});

test('a recorded decision is not carried out in a dry run', async () => {
  const engine = new Engine();
  const deletion = engine.expirer.expireRecorded(engine.pass(true), recordedTarget(engine));
  await expect(deletion).rejects.toThrow('a recorded decision is not carried out in a dry run');
  expect(engine.counted).toEqual([]);
});
