import type { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import { pick } from '@lapse/kube/client/protobuf/pick.testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeTerminating } from '#deletion/expirer';
import type { Finishable } from '#expiry/finishable';
import { jobs } from '#expiry/job';
import { POD_TTL_ANNOTATION, pods } from '#expiry/pod';
import { factsOf } from './controller.ts';
import { decideExpiry } from './decide.ts';
import { at, ended, moment, owner, pod, time } from './expected.testkit.ts';
import { job } from './ttl.testkit.ts';

describe('the projection', () => {
  const text = fc.oneof(
    fc.constantFrom(time(0), time(5), time(60), '', 'junk', '0001-01-01T00:00:00Z'),
    fc.constant(undefined),
  );
  const condition = fc.record(
    {
      type: fc.constantFrom('Complete', 'Failed', 'Suspended', 'Ready'),
      status: fc.constantFrom('True', 'False'),
      lastTransitionTime: text,
      message: fc.string(),
    },
    { requiredKeys: ['type', 'status'] },
  );
  const annotations = fc.dictionary(
    fc.constantFrom('lapse.dev/ttl', POD_TTL_ANNOTATION, 'other'),
    fc.constantFrom('never', '5', '60', 'x', '-1'),
  );
  const metadata = fc.record(
    {
      name: fc.constant('n'),
      namespace: fc.constant('d'),
      uid: fc.constant('u'),
      resourceVersion: fc.constant('1'),
      annotations,
      deletionTimestamp: fc.constant(time(1)),
      finalizers: fc.constant(['a/b']),
      labels: fc.constant({ a: 'b' }),
      ownerReferences: fc.constantFrom(
        ...[owner('Job', 'batch/v1'), owner('Job', 'x/v1'), owner('ReplicaSet', 'apps/v1')].map(
          (o) => o.metadata.ownerReferences,
        ),
      ),
    },
    { requiredKeys: ['name', 'namespace', 'uid', 'resourceVersion'] },
  );
  const anyJob = fc.record({
    apiVersion: fc.constant('batch/v1'),
    kind: fc.constant('Job'),
    metadata,
    spec: fc.record(
      { ttlSecondsAfterFinished: fc.constantFrom(0, 5, 60, -1), parallelism: fc.nat() },
      { requiredKeys: [] },
    ),
    status: fc.record(
      { conditions: fc.array(condition, { maxLength: 4 }), succeeded: fc.nat() },
      { requiredKeys: [] },
    ),
  }) as unknown as fc.Arbitrary<Job>;
  const statuses = fc.array(
    fc.record({
      name: fc.constant('c'),
      state: fc.record({ terminated: fc.record({ finishedAt: text }) }, { requiredKeys: [] }),
    }),
    { maxLength: 3 },
  );
  const anyPod = fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constant('Pod'),
    metadata,
    spec: fc.record(
      { restartPolicy: fc.constantFrom('Never', 'Always'), nodeName: fc.string() },
      { requiredKeys: [] },
    ),
    status: fc.record(
      {
        phase: fc.constantFrom('Succeeded', 'Failed', 'Running'),
        conditions: fc.array(condition, { maxLength: 3 }),
        containerStatuses: statuses,
        initContainerStatuses: statuses,
        ephemeralContainerStatuses: statuses,
      },
      { requiredKeys: [] },
    ),
  }) as unknown as fc.Arbitrary<Pod>;

  function check<T extends Job | Pod>(finishable: Finishable<T>, any: fc.Arbitrary<T>): void {
    const decide = (object: T) => decideExpiry(finishable, object, moment(30, 20));
    fc.assert(
      fc.property(any, any, (a, b) => {
        const { project } = finishable.projection;
        const [p, q] = [project(a), project(b)];
        expect(decide(p)).toEqual(decide(a));
        const { apiVersion, kind } = a;
        const arrived = { apiVersion, kind, ...pick(a, finishable.projection.shape!) } as unknown as T;
        expect(decide(project(arrived))).toEqual(decide(a));
        expect(project(p)).toEqual(p);
        const { name, namespace, uid, resourceVersion } = a.metadata;
        expect(p.metadata).toMatchObject({ name, namespace, uid, resourceVersion });
        // Equal facts give equal decisions: an update that changes no fact need not trigger a reconcile.
        if (JSON.stringify(factsOf(p)) === JSON.stringify(factsOf(q))) expect(decide(p)).toEqual(decide(q));
      }),
      { numRuns: 400 },
    );
  }
  test('of a Job gives the same decision as the Job', () => check(jobs, anyJob));
  test('of a Pod gives the same decision as the Pod', () => check(pods, anyPod));

  test('shares the status of Jobs with the same condition in the same second', () => {
    const ended = (name: string, type: string, lastTransitionTime: string): Job => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: 'default' },
      spec: { ttlSecondsAfterFinished: 60 },
      status: { conditions: [{ type, status: 'True', lastTransitionTime }] },
    });
    const statusOf = (job: Job) => jobs.projection.project(job).status;
    const one = statusOf(ended('a', 'Complete', '2026-01-01T00:00:07Z'));
    expect(statusOf(ended('b', 'Complete', '2026-01-01T00:00:07Z'))).toBe(one);
    expect(statusOf(ended('c', 'Complete', '2026-01-01T00:00:08Z'))).not.toEqual(one);
    expect(statusOf(ended('d', 'Failed', '2026-01-01T00:00:07Z'))).not.toEqual(one);
  });

  test.each([
    [
      'Job',
      (read: (path: string) => void) =>
        probe(
          jobs,
          job({
            ttl: 5,
            finishedAt: time(0),
            metadata: {
              deletionTimestamp: time(0),
              finalizers: ['a'],
              annotations: { 'lapse.dev/ttl': '5' },
            },
          }),
          read,
        ),
    ],
    [
      'Pod',
      (read: (path: string) => void) =>
        probe(pods, pod('5', { phase: 'Failed', containerStatuses: ended(0) }), read),
    ],
  ])('every field that a decision about a %s reads is one of its facts', (_kind, run) => {
    const read = new Set<string>();
    run((path) => read.add(path));
    expect(
      [...read].filter(
        (path) =>
          !/^(spec|status|metadata(\.(deletionTimestamp|finalizers|annotations|ownerReferences))?$)/.test(
            path.split('.').slice(0, 2).join('.'),
          ),
      ),
    ).toEqual([]);
    expect(read.size).toBeGreaterThan(3);
  });

  /** Decides on an object that records which of its fields are read. */
  function probe<T extends Job | Pod>(
    finishable: Finishable<T>,
    object: T,
    read: (path: string) => void,
  ): void {
    const spy = <V>(value: V, path: string): V =>
      typeof value !== 'object' || value === null
        ? value
        : (new Proxy(value as object, {
            get(target, name) {
              const inner = Reflect.get(target, name) as unknown;
              if (typeof name !== 'string' || typeof inner === 'function') return inner;
              const next = path === '' ? name : `${path}.${name}`;
              read(next);
              return spy(inner, next);
            },
          }) as V);
    const spied = spy(object, '');
    decideExpiry(finishable, spied, moment(30, 20));
    computeTerminating(spied, at(9999));
  }
});
