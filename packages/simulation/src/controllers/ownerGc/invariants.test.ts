// Invariants of garbage collection that hold for any graph once all work is done.

import { seededRandom } from '@lapse/base/random';
import { metadataOf } from '@lapse/kube/api/kind';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { world } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { computeRole, isBlocking } from './compute.ts';
import { createOwnerGc } from './controller.ts';
import { Bench, type Graph, KINDS } from './graphs.testkit.ts';
import { randomGraph } from './random.testkit.ts';

interface Left {
  readonly id: string;
  readonly metadata: ObjectMeta;
}

/** Kinds by their name in owner references; other kinds are unknown. */
const known = new Map(Object.values(KINDS).map((kind) => [kind.kind, kind]));

/** The violated invariant of a remaining object, if any. */
function complaint({ id, metadata }: Left, all: ReadonlyMap<string, Left>): string | undefined {
  const present = [...all.values()];
  if (metadata.deletionTimestamp !== undefined) {
    const role = computeRole(metadata);
    if (role === 'orphaning') return `${id} was not orphaned`;
    const isBlocked = present.some((other) => isBlocking(other.metadata, metadata.uid!));
    if (role === 'deletingDependents' && !isBlocked) return `${id} waits for nobody`;
    return role === 'none' && !metadata.finalizers?.length ? `${id} is held by nothing` : undefined;
  }
  const states = (metadata.ownerReferences ?? []).map(({ apiVersion, kind, name, uid }) => {
    const of = known.get(kind);
    const isServed = of !== undefined && apiVersion === (of.group === '' ? 'v1' : `${of.group}/v1`);
    if (!isServed || (of.namespaced && metadata.namespace === undefined)) return 'unknown';
    const owner = all.get(`${kind} ${of.namespaced ? metadata.namespace : ''} ${name}`);
    if (owner?.metadata.uid !== uid) return 'dangling';
    return computeRole(owner.metadata) === 'deletingDependents' ? 'waiting' : 'solid';
  });
  if (states.includes('unknown') || states.every((state) => state === 'solid')) return undefined;
  return `${id} has owners that are ${states.join(', ')}`;
}

test('no garbage, no dead references and no needless waiting remain', async () => {
  const random = seededRandom(11);
  const graphs: Graph[] = Array.from({ length: 60 }, () => randomGraph(random));
  const made = await world({
    controllers: [createOwnerGc()],
    enforceRights: true,
    listBy: 'pages',
    bookmarks: false,
  });
  const bench = new Bench(made.user);
  made.manager.start();
  await bench.prepare(() => made.pass(100));
  await bench.build(graphs);
  await made.pass(60_000);
  await bench.delete(graphs);
  await made.pass(60_000);
  const all = new Map<string, Left>();
  for (const kind of Object.values(KINDS))
    for (const { metadata } of (await made.user.list(metadataOf(kind))).items) {
      const id = `${kind.kind} ${metadata.namespace ?? ''} ${metadata.name}`;
      all.set(id, { id, metadata });
    }
  expect([...all.values()].map((left) => complaint(left, all)).filter(Boolean)).toEqual([]);
  expect(all.size).toBeGreaterThan(40);
  const writes = made.writes().length;
  await made.pass(600_000);
  expect(made.writes().length).toBe(writes);
  expect(made.reconciles.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
  await made.close();
});
