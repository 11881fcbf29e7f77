import { hours } from '@lapse/base/instant';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { KubeEvent } from '@lapse/runtime/events/build';
import { settled, terminal } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { expect, test } from 'vitest';
import { STOCK_SNAPSHOT_KINDS } from './csi/kinds.ts';
import { simulate } from './simulate.ts';

const controller = (
  name: string,
  of: object,
  reconcile: (pass: ReconcileContext) => Promise<ReturnType<typeof settled>>,
) =>
  defineController({
    name,
    for: of as typeof ConfigMap,
    concurrency: 1,
    reconcile,
  }) as unknown as ControllerDefinition;

test('a simulated controller for a kind that is not served sends no requests and starts when the CRD is created', async () => {
  const seen: string[] = [];
  const late = controller('late', VolumeSnapshotContent, async ({ key }) => {
    seen.push(key.name);
    return settled();
  });
  const cluster = await simulate({ simulatedControllers: [late] });
  await cluster.timePasses(hours(24 * 365));
  expect(cluster.clock.next()).toBeUndefined();
  await cluster.apply(STOCK_SNAPSHOT_KINDS.map(({ crd }) => crd));
  await cluster.apply({
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name: 'first' },
    spec: {
      deletionPolicy: 'Delete',
      driver: 'd',
      source: { volumeHandle: 'v' },
      volumeSnapshotRef: { namespace: 'default', name: 'first' },
    },
  });
  expect(seen).toEqual(['first']);
  await cluster.close();
});

test('the simulation waits for hundreds of reconciles of a simulated controller that send no requests', async () => {
  const seen = new Set<string>();
  const busy = controller('busy', ConfigMap, async ({ key }) => {
    seen.add(key.name);
    return settled();
  });
  const cluster = await simulate({
    simulatedControllers: [busy],
    prepare: async ({ server }) => {
      for (let i = 0; i < 800; i++)
        await server.importObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${i}` } });
    },
  });
  expect(seen.size).toBe(800);
  await cluster.close();
});

test('a simulated controller emits Events', async () => {
  const grumbling = controller(
    'grumbling',
    ConfigMap,
    async () => terminal('Odd', 'I do not like it') as never,
  );
  const cluster = await simulate({ simulatedControllers: [grumbling] });
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  const { items } = await cluster.user.list(KubeEvent);
  expect(items.map(({ regarding, reason, note }) => [regarding.name, reason, note])).toEqual([
    ['a', 'Odd', 'I do not like it'],
  ]);
  await cluster.close();
});
