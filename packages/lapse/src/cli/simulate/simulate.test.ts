import { createServer } from '@lapse/apiserver/server';
import { hours, instant, millis, parseTime } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { simulate } from '@lapse/simulation/simulate';
import { readManifests } from '@lapse/simulation/userClient';
import { describe, expect, test } from 'vitest';
import { FAMILIES } from '#controllers/registry';
import type { SimulatedDeletion } from '#forecast/simulate/deletionLog';
import { computeDifference } from '#forecast/simulate/difference';
import { loadObjects } from '#forecast/simulate/loadObjects';
import { runForward } from '#forecast/simulate/runForward';
import { takeSnapshot } from '#forecast/simulate/takeSnapshot';
import { loadConfiguration } from '#manager/configuration/load';
import { kindsOf } from '#manager/crds';
import { readOnly } from '#manager/readOnly';
import { selectFamilies } from '#manager/selection';
import { type Report, reportDocument, reportText } from './report.ts';

const start = parseTime('2026-01-01T00:00:00Z');
const JOB = '11111111-1111-4111-8111-111111111111';
const finished = '2025-12-31T21:00:00Z';
const job = (name: string, more: string) => `
- apiVersion: batch/v1
  kind: Job
  metadata: { name: ${name}, namespace: team, creationTimestamp: "2025-12-31T20:00:00Z" ${more} }
  spec:
    ${name === 'forgotten' ? '' : 'ttlSecondsAfterFinished: 86400'}
    template: { spec: { restartPolicy: Never, containers: [{ name: a, image: a }] } }
  status:
    completionTime: "${finished}"
    conditions: [{ type: Complete, status: "True", lastTransitionTime: "${finished}" }]`;
const WORLD = `
apiVersion: v1
kind: List
items:${job('report', `, uid: ${JOB}`)}${job('forgotten', '')}
- apiVersion: v1
  kind: Pod
  metadata:
    name: report-x1
    namespace: team
    ownerReferences: [{ apiVersion: batch/v1, kind: Job, name: report, uid: ${JOB} }]
  spec: { restartPolicy: Never, containers: [{ name: a, image: a }] }
`;
const POLICY = `
apiVersion: lapse.dev/v1alpha1
kind: TTLPolicy
metadata: { name: jobs, namespace: team }
spec: { target: { apiVersion: batch/v1, kind: Job }, ttl: 30h, mode: Enforce }
`;

const document = loadConfiguration(FAMILIES, {
  flags: {},
  environment: {},
  defaults: { actAs: 'controller', leaderElection: { enabled: false } },
});
const families = selectFamilies(FAMILIES, ['ttl-after-finished', 'ttl-policy']);

const run = (objects: readonly KubeObject[], changes: string, isSnapshot = false) =>
  runForward({
    objects,
    isSnapshot,
    changes: readManifests(changes),
    families,
    known: FAMILIES,
    document,
    start,
    length: hours(36),
    seed: 1,
  });
const short = ({ at, kind, name, by }: SimulatedDeletion) =>
  `${new Date(at).toISOString()} ${kind}/${name} ${by}`;

describe('simulation', () => {
  test('objects from files keep uid, timestamps and status, and the effect of a changed policy is reported', async () => {
    const without = await run(readManifests(WORLD), '');
    expect(without.deletions.map(short)).toEqual([
      '2026-01-01T21:00:00.000Z Job/report ttl-after-finished',
      '2026-01-01T21:00:00.000Z Pod/report-x1 garbage collection',
    ]);
    const [report, pod] = without.deletions;
    expect(report).toMatchObject({ uid: JOB, gone: report!.at });
    expect(report!.because).toMatch(/finished 2025-12-31T21:00:00Z .*TTL 24h0m0s/);
    expect(pod!.because).toBe('its owner team/job/report was deleted');

    const changed = await run(readManifests(WORLD), POLICY);
    expect(
      computeDifference(without.deletions, changed.deletions).map(({ kind, deletion }) => [
        kind,
        short(deletion),
      ]),
    ).toEqual([['only with', '2026-01-02T03:00:00.000Z Job/forgotten ttl-policy']]);
    expect(changed.deletions.at(-1)!.because).toMatch(/TTLPolicy team\/jobs/);
    expect(changed.problems).toEqual([]);
  });

  test.each([
    [
      'a policy that the API server rejects',
      POLICY.replace('ttl: 30h', 'ttl: soon'),
      /--with: team\/ttlpolicy\/jobs: /,
    ],
    [
      'a kind without a CRD',
      POLICY.replace('TTLPolicy', 'Nothing'),
      /--with: team\/nothing\/jobs: .*not served/,
    ],
  ])('%s is bad input', async (_rule, changes, message) => {
    await expect(run([], changes)).rejects.toThrow(message);
  });

  test('an object of an unknown kind is an error in a file and a note in a snapshot', async () => {
    const odd = readManifests(
      '{apiVersion: x.dev/v1, kind: Odd, metadata: {name: a, uid: u, resourceVersion: "1"}}',
    );
    await expect(run(odd, '')).rejects.toThrow(
      /^odd\/a: .*not served; add its CustomResourceDefinition to the files$/,
    );
    const { notes } = await run(
      [...odd, { ...odd[0]!, metadata: { ...odd[0]!.metadata, name: 'b' } }],
      '',
      true,
    );
    expect(notes).toEqual(['2 left out: the kind Odd of x.dev/v1 is not served']);
  });
});

test('the CRDs of Lapse replace those of the cluster and keep their creation time', async () => {
  const [kind] = kindsOf(selectFamilies(FAMILIES, ['cleaner']));
  const { name = '' } = kind!.crd.metadata;
  const there = { uid: JOB, creationTimestamp: '2024-01-01T00:00:00Z', resourceVersion: '7' };
  const world = await simulate({
    kinds: [kind!],
    start,
    prepare: async (simulation) => {
      const objects = [{ ...kind!.crd, metadata: { ...kind!.crd.metadata, ...there } }];
      expect(await loadObjects(simulation, { objects, given: new Set([name]), isSnapshot: true })).toEqual(
        [],
      );
    },
  });
  const { resourceVersion: _, ...age } = there;
  expect(await world.user.get(CustomResourceDefinition, { name })).toMatchObject({ metadata: age });
  await world.close();
});

describe('a snapshot', () => {
  async function cluster() {
    const clock = new VirtualClock(start);
    const server = await createServer({ clock, random: seededRandom(1) });
    const methods: string[] = [];
    const transport = inProcessTransport((request) => {
      methods.push(request.method);
      return server.handle(request);
    });
    const client = createClient({
      transport: readOnly(transport),
      clock,
      random: seededRandom(2),
      flow: 'none',
    });
    for (const object of [
      ...readManifests(WORLD),
      ...readManifests(
        '{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: team}, data: {a: YQ==}}',
      ),
    ])
      await server.importObject(object);
    return { client, methods };
  }

  test('reads everything with GET requests only, without Secret data', async () => {
    const { client, methods } = await cluster();
    const { objects, notes } = await takeSnapshot({ client, limit: 100 });
    expect(new Set(methods)).toEqual(new Set(['GET']));
    expect(notes).toEqual([]);
    const named = (name: string) => objects.find(({ metadata }) => metadata.name === name);
    expect(named('report')).toMatchObject({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { uid: JOB, creationTimestamp: '2025-12-31T20:00:00Z' },
      status: { completionTime: finished },
    });
    expect(named('s')).toMatchObject({ kind: 'Secret' });
    expect(named('s')).not.toHaveProperty('data');
    await expect(
      client.create({ group: '', version: 'v1', kind: 'A', resource: 'as', namespaced: true }, named('s')!),
    ).rejects.toThrow(/was not sent: this command only reads/);
  });

  test('of a cluster that is too large is refused', async () => {
    const { client } = await cluster();
    await expect(takeSnapshot({ client, limit: 2 })).rejects.toThrow(/more objects than --limit allows/);
  });
});

const deletion = (name: string, at: number, more: Partial<SimulatedDeletion> = {}): SimulatedDeletion => ({
  at: instant(start + at),
  gone: instant(start + at),
  apiVersion: 'batch/v1',
  kind: 'Job',
  name,
  uid: name,
  by: 'ttl-after-finished',
  because: 'ttl',
  ...more,
});

test('the difference lists added, removed, earlier and later deletions, and no equal ones', () => {
  const before = [
    deletion('same', 0),
    deletion('sooner', 5000),
    deletion('later', 1000),
    deletion('gone', 2000),
    deletion('gone', 9000),
  ];
  const after = [
    deletion('same', 0),
    deletion('sooner', 1000),
    deletion('later', 4000, { apiVersion: 'batch/v2' }),
    deletion('new', 3000),
  ];
  const difference = computeDifference(before, after);
  expect(
    difference.map(({ kind, deletion: { name }, ...rest }) => [
      kind,
      name,
      'by' in rest ? rest.by : undefined,
    ]),
  ).toEqual([
    ['earlier', 'sooner', millis(4000)],
    ['only without', 'gone', undefined],
    ['only with', 'new', undefined],
    ['later', 'later', millis(3000)],
  ]);
});

test('the report has a text and a structured form', () => {
  const { gone: _, ...held } = deletion('held', 60_000);
  const report: Report = {
    from: start,
    until: instant(start + 3_600_000),
    seed: 1,
    objects: 2,
    deletions: [deletion('a', 0), held],
    difference: computeDifference([deletion('a', 5000)], [deletion('a', 0)]),
    notes: ['secrets could not be read: Forbidden'],
    isComplete: false,
    problems: ['ttlpolicy/x is not ready: Invalid: no'],
  };
  expect(reportText(report)).toBe(
    [
      '2026-01-01 00:00:00 to 2026-01-01 01:00:00 UTC (1h): 2 objects, 2 deletions',
      '',
      'WHEN                 WHAT      BY                  WHY',
      '2026-01-01 00:00:00  job/a     ttl-after-finished  ttl',
      '2026-01-01 00:01:00  job/held  ttl-after-finished  ttl (terminating: a finalizer keeps it)',
      '',
      'Difference with --with: 1 earlier',
      '<  2026-01-01 00:00:00  job/a  5s earlier, was 2026-01-01 00:00:05',
      '',
      'Problems',
      '  ttlpolicy/x is not ready: Invalid: no',
      '',
      'Not simulated',
      '  secrets could not be read: Forbidden',
      '',
    ].join('\n'),
  );
  expect(reportDocument(report)).toMatchObject({
    from: '2026-01-01T00:00:00Z',
    deletions: [{ at: '2026-01-01T00:00:00Z', gone: '2026-01-01T00:00:00Z', name: 'a' }, { name: 'held' }],
    difference: [{ kind: 'earlier', before: '2026-01-01T00:00:05Z', bySeconds: 5 }],
  });
  expect(reportText({ ...report, difference: [], deletions: [], notes: [], problems: [] })).toMatch(
    /2 objects, 0 deletions\n\nno difference with --with\n$/,
  );
  expect(reportText(report, 60)).toContain(
    [
      'WHEN                 WHAT',
      '2026-01-01 00:00:00  job/a',
      '    ttl-after-finished: ttl',
      '2026-01-01 00:01:00  job/held',
      '    ttl-after-finished: ttl (terminating: a finalizer keeps',
      '    it)',
      '',
    ].join('\n'),
  );
  const name = 'a\u001b[2J';
  const hostile = { ...report, deletions: [deletion(name, 0)], problems: [name], notes: [name] };
  expect(reportText(hostile)).not.toContain('\u001b');
});
