// What each family forecasts about objects that do not simply expire, from manifests. test/scenarios/plan.soak.ts
// checks that deletion times are correct to the second.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseTime } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import { openManifests } from 'lapse/cli/manifestFiles';
import { FAMILIES } from 'lapse/controllers/registry';
import { collectForecasts, type Forecast, NOTHING_KNOWN } from 'lapse/forecast/forecast';
import { createSnapshot, type Focus, readingFrom } from 'lapse/forecast/snapshot';
import { readGeneral } from 'lapse/manager/configuration/general';
import { compileConfiguration } from 'lapse/manager/configuration/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const NOW = parseTime('2026-03-01T10:00:00Z');
const MANIFESTS = `
apiVersion: batch/v1
kind: Job
metadata: { name: running, namespace: ns }
spec: { ttlSecondsAfterFinished: 60 }
---
apiVersion: batch/v1
kind: Job
metadata: { name: kept, namespace: ns, annotations: { lapse.dev/ttl: never } }
spec: { ttlSecondsAfterFinished: 60 }
status: { conditions: [{ type: Complete, status: "True", lastTransitionTime: "2026-03-01T09:00:00Z" }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: ahead, namespace: ns }
spec: { ttlSecondsAfterFinished: 60 }
status: { conditions: [{ type: Complete, status: "True", lastTransitionTime: "2026-03-01T11:00:00Z" }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: stuck, namespace: ns, finalizers: [x.dev/hold], deletionTimestamp: "2026-03-01T09:30:00Z", deletionGracePeriodSeconds: 0 }
spec: { ttlSecondsAfterFinished: 60 }
status: { conditions: [{ type: Complete, status: "True", lastTransitionTime: "2026-03-01T09:00:00Z" }] }
---
apiVersion: v1
kind: Pod
metadata: { name: endless, namespace: ns, annotations: { lapse.dev/ttl-seconds-after-finished: "60" } }
spec: { restartPolicy: Always, containers: [{ name: c, image: i }] }
status: { phase: Succeeded, conditions: [{ type: Ready, status: "False", lastTransitionTime: "2026-03-01T09:00:00Z" }] }
---
apiVersion: lapse.dev/v1alpha1
kind: TTLPolicy
metadata: { name: broken, namespace: other }
spec: { target: { apiVersion: v1, kind: ConfigMap }, from: Created, ttl: soon, mode: Enforce }
---
apiVersion: lapse.dev/v1alpha1
kind: TTLPolicy
metadata: { name: good, namespace: other }
spec: { target: { apiVersion: v1, kind: ConfigMap }, from: Created, ttl: 1h, mode: Enforce }
---
apiVersion: lapse.dev/v1alpha1
kind: TTLPolicy
metadata: { name: paused, namespace: ns }
spec: { target: { apiVersion: v1, kind: ConfigMap }, from: Created, ttl: 1h, mode: Paused }
---
apiVersion: lapse.dev/v1alpha1
kind: TTLPolicy
metadata: { name: nothing, namespace: ns }
spec: { target: { apiVersion: example.com/v1, kind: Widget }, ttl: 1h, mode: Enforce }
---
apiVersion: lapse.dev/v1alpha1
kind: ClusterTTLPolicy
metadata: { name: own }
spec: { target: { apiVersion: lapse.dev/v1alpha1, kind: TTLPolicy }, ttl: 1h, mode: Enforce }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: held, namespace: other }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: idle, namespace: ns }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: unreadable, namespace: ns, annotations: { lapse.dev/ttl: soon } }
---
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: waits, namespace: ns, creationTimestamp: "2026-03-01T08:00:00Z" }
spec:
  ttl: 1h
  retry: { period: 10m }
  targets: [{ name: map, reference: { kind: configmap, name: idle }, delete: true, includeWhenEvaluating: true }]
  conditions: ['map.metadata.name == "busy"']
---
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: dry, namespace: ns, creationTimestamp: "2026-03-01T09:30:00Z" }
spec:
  ttl: 1h
  mode: DryRun
  targets: [{ name: map, reference: { kind: configmap, name: idle }, delete: true }]
---
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: misses, namespace: ns }
spec:
  ttl: 1h
  retry: { period: 10m }
  targets: [{ name: map, reference: { kind: configmap, name: nobody }, includeWhenEvaluating: true }]
  conditions: ['true']
---
apiVersion: deckhouse.io/v1alpha1
kind: ObjectKeeper
metadata: { name: foreign }
spec: { mode: FollowObject, followObjectRef: { apiVersion: v1, kind: ConfigMap, namespace: ns, name: idle, uid: u } }
---
apiVersion: deckhouse.io/v1alpha1
kind: ObjectKeeper
metadata: { name: nonsense }
spec: { mode: TTL, ttl: soon }
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeCaptureRequest
metadata: { name: pending, namespace: ns }
spec: { mode: Snapshot, persistentVolumeClaimRef: { name: data } }
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeCaptureRequest
metadata: { name: ended, namespace: ns, annotations: { storage.deckhouse.io/ttl: 1h } }
spec: { mode: Snapshot, persistentVolumeClaimRef: { name: data } }
status:
  completionTimestamp: "2026-03-01T09:30:00Z"
  conditions: [{ type: Ready, status: "True", reason: Completed, message: m, lastTransitionTime: "2026-03-01T09:30:00Z" }]
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeCaptureRequest
metadata: { name: nonsense, namespace: ns, annotations: { storage.deckhouse.io/ttl: soon } }
spec: { mode: Snapshot, persistentVolumeClaimRef: { name: data } }
status:
  completionTimestamp: "2026-03-01T09:30:00Z"
  conditions: [{ type: Ready, status: "True", reason: Completed, message: m, lastTransitionTime: "2026-03-01T09:30:00Z" }]
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeRestoreRequest
metadata: { name: pending, namespace: ns, creationTimestamp: "2026-03-01T09:00:00Z" }
spec: { sourceRef: { kind: VolumeSnapshotContent, name: s }, targetPVCName: data }
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: ReplicatedStoragePool
metadata: { name: pool }
spec: { type: LVM, systemNetworkNames: [Internal], lvmVolumeGroups: [], eligibleNodesPolicy: { notReadyGracePeriod: 10m } }
---
apiVersion: v1
kind: Node
metadata: { name: sick }
status: { conditions: [{ type: Ready, status: "False", lastTransitionTime: "2026-03-01T09:55:00Z" }] }
---
apiVersion: v1
kind: Node
metadata: { name: ahead }
status: { conditions: [{ type: Ready, status: "False", lastTransitionTime: "2026-03-01T12:00:00Z" }] }
`;

let said: string[];
let ask: (focus?: Focus, more?: object) => Promise<Forecast[]>;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-statements-'));
  const file = join(directory, 'all.yaml');
  writeFileSync(file, MANIFESTS);
  const { client, unknown, close } = await openManifests([file], new VirtualClock(NOW));
  closing.push(close, () => rmSync(directory, { recursive: true }));
  expect(unknown).toEqual([]);
  const served = await client.discovery.all();
  ask = async (focus, more = { actAs: 'controller' }) => {
    const given = { featureGates: { TTLAfterFinishedPods: true }, ...more };
    const { document } = compileConfiguration(FAMILIES).complete(given);
    const foretold = collectForecasts(
      {
        snapshot: createSnapshot(served, readingFrom(client), focus),
        now: NOW,
        general: readGeneral(document),
        document,
        known: FAMILIES,
        selected: FAMILIES,
      },
      FAMILIES,
      NOTHING_KNOWN,
      (what) => expect.fail(what),
    );
    return Array.fromAsync(foretold);
  };
  said = (await ask()).map(describeForetold);
});
afterAll(async () => {
  for (const close of closing) await close();
});

function describeForetold({ family, statement }: Forecast): string {
  const { kind, object, because } = statement;
  const where = object.namespace === undefined ? '' : `${object.namespace}/`;
  return `${family}: ${object.kind} ${where}${object.name} ${kind}: ${because}`;
}

describe('what is said', () => {
  test.each([
    'ttl-after-finished: Job ns/running kept: unfinished',
    'ttl-after-finished: Job ns/kept held: opted out',
    'ttl-after-finished: Job ns/ahead deleted: finished 2026-03-01T11:00:00Z',
    'ttl-after-finished: Job ns/stuck held: terminating since 2026-03-01T09:30:00Z, kept by the finalizer x.dev/hold',
    'ttl-after-finished: Pod ns/endless held: a Pod with restartPolicy Always does not finish by itself',
    'ttl-policy: TTLPolicy other/broken held: TTLPolicy.lapse.dev "broken" is invalid: spec.ttl',
    'ttl-policy: ConfigMap other/held held: waits for TTLPolicy other/broken, which cannot be understood',
    'ttl-policy: ConfigMap ns/idle held: the policy is in mode Paused',
    'ttl-policy: ConfigMap ns/unreadable held: TTLPolicy ns/paused (Paused): invalid TTL',
    'ttl-policy: TTLPolicy ns/nothing held: the API server does not serve example.com/v1 Widget',
    'ttl-policy: ClusterTTLPolicy own held: a policy cannot delete TTLPolicy objects',
    'cleaner: Cleaner ns/waits held: created 2026-03-01T08:00:00Z, TTL 1h; its condition is not true, and no time is known',
    'cleaner: ConfigMap ns/idle held: target map: created 2026-03-01T08:00:00Z',
    'cleaner: ConfigMap ns/idle held: target map: the Cleaner is in mode DryRun',
    'cleaner: Cleaner ns/misses held: ConfigMap nobody (map) does not exist',
    'object-keeper: ObjectKeeper foreign held: Lapse may not read configmaps',
    'object-keeper: ObjectKeeper nonsense held: spec.ttl',
    'volume-capture: VolumeCaptureRequest ns/pending kept: unfinished: the snapshot of claim ns/data does not exist yet',
    'volume-restore: VolumeRestoreRequest ns/pending kept: unfinished: VolumeSnapshotContent s as claim ns/data is not bound yet; no provisioner responds',
    'request-ttl: VolumeCaptureRequest ns/pending kept: unfinished: it has no Ready condition',
    'storage-pool: ReplicatedStoragePool pool changes: node sick is not Ready and leaves the list',
  ])('%s', (start) => {
    const found = said.filter((line) => line.startsWith(start));
    expect(found, said.filter((line) => line.startsWith(start.split(':')[0]!)).join('\n')).not.toEqual([]);
  });

  test('a grace period keeps its end; a transition in the future counts from now, as for a controller that starts now', async () => {
    const changes = (await ask()).flatMap(({ statement }) =>
      statement.kind === 'changes' ? statement.at : [],
    );
    expect(changes.sort((a, b) => a - b)).toEqual(
      ['2026-03-01T10:05:00Z', '2026-03-01T10:10:00Z'].map(parseTime),
    );
  });

  test('a finish time in the future is used for the forecast all the same', async () => {
    const ahead = (await ask()).find(({ statement }) => statement.object.name === 'ahead')!.statement;
    expect(ahead).toMatchObject({
      kind: 'deleted',
      at: parseTime('2026-03-01T11:01:00Z'),
      propagation: 'Foreground',
    });
  });
});

describe('requests that have ended', () => {
  const about = async (name: string, mode: string) =>
    (await ask(undefined, { actAs: 'controller', requestTTL: { mode } }))
      .filter(
        ({ statement }) => statement.object.kind === 'VolumeCaptureRequest' && statement.object.name === name,
      )
      .map(({ family, statement }) => [
        family,
        statement.kind,
        'at' in statement ? statement.at : statement.because,
      ]);

  test('the configured TTL decides, whatever their annotation says', async () => {
    const at = parseTime('2026-03-01T09:40:00Z');
    expect(await about('ended', 'scanner')).toEqual([['request-ttl', 'deleted', at]]);
    expect(await about('nonsense', 'scanner')).toEqual([['request-ttl', 'deleted', at]]);
  });

  test('in annotation mode their annotation decides, and their own controller deletes them', async () => {
    expect(await about('ended', 'annotation')).toEqual([
      ['volume-capture', 'deleted', parseTime('2026-03-01T10:30:00Z')],
    ]);
    expect(await about('nonsense', 'annotation')).toEqual([
      ['volume-capture', 'held', expect.stringContaining('Invalid TTL annotation format: soon')],
    ]);
  });
});

describe('whose rights count', () => {
  test('a policy and a Cleaner without an author are held', async () => {
    const held = (await ask(undefined, {})).map(describeForetold);
    const unknown = held.filter((line) => line.includes('author unknown: the spec was written without'));
    expect(unknown.filter((line) => line.includes(' ttlpolicy '))).toHaveLength(2);
    expect(unknown.filter((line) => line.includes('cleaner ')).length).toBeGreaterThan(2);
  });
});

describe('a forecast for one object', () => {
  test('evaluates rules for that object alone', async () => {
    const about = await ask({ group: '', kind: 'ConfigMap', namespace: 'ns', name: 'idle' });
    const names = about
      .filter(({ family }) => family !== 'cleaner')
      .map(({ statement }) => `${statement.object.kind} ${statement.object.name}`);
    expect([...new Set(names)].sort()).toEqual(
      expect.arrayContaining(['ConfigMap idle', 'TTLPolicy broken', 'TTLPolicy nothing']),
    );
    expect(names).not.toContain('ConfigMap unreadable');
    expect(names).not.toContain('Job running');
  });
});
