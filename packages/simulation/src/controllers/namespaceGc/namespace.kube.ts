// Deletes the same namespaces in a real cluster and on the embedded server with the simulated namespace controller. The
// remaining objects and the conditions must be equal.

import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { ConfigMap, CustomResourceDefinition, Namespace, Pod, Secret } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { world } from '@lapse/runtime/world.testkit';
import { beforeAll, expect, test } from 'vitest';
import { realCluster, sleep } from '../cluster.testkit.ts';
import { namespaceGc } from './controller.ts';

const { kind: Thing, crd } = defineCustomKind({
  kind: { group: 'x.dev', version: 'v1', kind: 'Thing', resource: 'things', namespaced: true },
  description: 'A thing.',
  spec: { type: 'object' },
  required: [],
});
const KINDS: Kind[] = [ConfigMap, Secret, Thing, Pod];

interface Content {
  readonly kind: Kind;
  readonly name: string;
  readonly finalizers?: string[];
  readonly spec?: object;
}
const HOLD = ['x.dev/hold'];
const containers = [{ name: 'c', image: 'i' }];

/** By name of the namespace. */
const CASES: Readonly<Record<string, { finalizers?: string[]; content: Content[] }>> = {
  empty: { content: [] },
  full: {
    content: [
      { kind: ConfigMap, name: 'a' },
      { kind: Secret, name: 'b' },
      { kind: Thing, name: 'c' },
      { kind: Pod, name: 'd', spec: { containers } },
    ],
  },
  held: {
    content: [
      { kind: ConfigMap, name: 'a', finalizers: HOLD },
      { kind: ConfigMap, name: 'b', finalizers: [...HOLD, 'x.dev/more'] },
      { kind: Thing, name: 'c', finalizers: ['x.dev/more'] },
      { kind: Secret, name: 'd' },
    ],
  },
  'held-by-a-pod': {
    content: [
      { kind: Pod, name: 'a', finalizers: HOLD, spec: { containers } },
      { kind: ConfigMap, name: 'b' },
    ],
  },
  'with-a-pod-on-a-node': {
    content: [
      { kind: Pod, name: 'a', spec: { containers, nodeName: 'n', terminationGracePeriodSeconds: 600 } },
      { kind: ConfigMap, name: 'b' },
    ],
  },
  'with-a-finalizer-of-its-own': { finalizers: ['x.dev/mine'], content: [{ kind: ConfigMap, name: 'a' }] },
};

async function build(client: Client, pause: () => Promise<void>): Promise<void> {
  objectOf(await client.create(CustomResourceDefinition, crd as CustomResourceDefinition));
  while ((await client.list(Thing).catch(() => undefined)) === undefined) await pause();
  for (const [name, { finalizers, content }] of Object.entries(CASES)) {
    const spec = finalizers === undefined ? {} : { finalizers };
    objectOf(await client.create(Namespace, { ...typed(Namespace), metadata: { name }, spec }));
    for (const { kind, name: of, finalizers: held = [], spec: what } of content) {
      const metadata = { name: of, namespace: name, finalizers: held };
      objectOf(
        await client.create(kind, {
          ...typed(kind),
          metadata,
          ...(what === undefined ? {} : { spec: what }),
        }),
      );
    }
  }
}

const typed = (kind: Kind) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind });

async function remove(client: Client): Promise<void> {
  for (const name of Object.keys(CASES)) await client.delete(Namespace, { name });
}

async function left(client: Client): Promise<object> {
  const all: Record<string, unknown> = {};
  for (const name of Object.keys(CASES)) {
    const namespace = await client.get(Namespace, { name });
    if (namespace === undefined) continue;
    const lists = await Promise.all(KINDS.map((kind) => client.list(metadataOf(kind), { namespace: name })));
    const objects = lists.flatMap(({ items }, i) => items.map((item) => describe(KINDS[i]!, item)));
    const conditions = namespace.status?.conditions?.map(
      ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
    );
    all[name] = { finalizers: namespace.spec?.finalizers, objects, conditions };
  }
  return all;
}

const describe = ({ kind }: Kind, { metadata }: KubeObject): string =>
  `${kind} ${metadata.name} [${metadata.finalizers?.join() ?? ''}]${metadata.deletionTimestamp === undefined ? '' : ' ending'}`;

const cluster = realCluster('namespace-controller');
let expected: object;

beforeAll(async () => {
  const made = await world({ controllers: [namespaceGc()], enforceRights: true });
  made.manager.start();
  await build(made.user, () => made.pass(100));
  await remove(made.user);
  await made.pass(15_000);
  expected = await left(made.user);
  await made.close();
});

test('the simulated namespace controller leaves objects and conditions to compare', () =>
  expect(Object.keys(expected)).toEqual([
    'held',
    'held-by-a-pod',
    'with-a-pod-on-a-node',
    'with-a-finalizer-of-its-own',
  ]));

test('a real cluster has the same remaining objects and conditions', async () => {
  await build(cluster.client, () => sleep(200));
  await remove(cluster.client);
  for (let look = 0; look < 80; look++) {
    await sleep(500);
    if (JSON.stringify(await left(cluster.client)) === JSON.stringify(expected)) break;
  }
  expect(await left(cluster.client)).toEqual(expected);
});
