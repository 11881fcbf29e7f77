// The default roles and bindings of a cluster with RBAC, as kube-apiserver creates them (data/bootstrap.json).

import { uuid } from '@lapse/base/random';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { bootstrapKey, withSystemFields } from '../bootstrap.ts';
import type { Core } from '../context.ts';
import { bootstrapData } from '../data/tables.ts';
import { selects } from '../strategies/labelSelector.ts';
import { child, objects } from '../strategies/values.ts';
import { type Reconciled, reconcileBinding, reconcileRole } from './reconcileRoles.ts';

const GROUP = 'rbac.authorization.k8s.io';

type Parts = Pick<Core, 'store' | 'clock' | 'random'>;

/** Creates missing roles and bindings, and adds missing rules and subjects to existing ones. */
export async function bootstrapRoles(core: Parts): Promise<void> {
  const defaults = (plural: string) => bootstrapData()[`${plural}.${GROUP}`]!;
  const clusterRoles = defaults('clusterroles').map((role) =>
    withAggregatedRules(role, defaults('clusterroles')),
  );
  await Promise.all([
    ...clusterRoles.map((role) => ensure(core, 'clusterroles', role, reconcileRole)),
    ...defaults('roles').map((role) => ensure(core, 'roles', role, reconcileRole)),
    ...['clusterrolebindings', 'rolebindings'].flatMap((plural) =>
      defaults(plural).map((binding) => ensure(core, plural, binding, reconcileBinding)),
    ),
  ]);
}

/** Includes the rules of the selected roles, which a controller writes in a cluster. */
function withAggregatedRules(role: KubeObject, all: readonly KubeObject[]): KubeObject {
  return child(role, 'aggregationRule') ? { ...role, rules: rulesOf(role, all) } : role;
}

function rulesOf(role: KubeObject, all: readonly KubeObject[]): JsonObject[] {
  const aggregation = child(role, 'aggregationRule');
  if (!aggregation) return objects(role, 'rules');
  const selected = objects(aggregation, 'clusterRoleSelectors').flatMap((selector) =>
    all.filter((other) => other !== role && selects(selector, other.metadata.labels ?? {}) === true),
  );
  const rules = selected.flatMap((other) => rulesOf(other, all));
  return rules.filter((rule, i) => rules.findIndex((other) => equal(other, rule)) === i);
}

async function ensure(
  { store, clock, random }: Parts,
  plural: string,
  expected: KubeObject,
  reconcile: (existing: KubeObject, expected: KubeObject) => Reconciled,
): Promise<void> {
  const table = `${plural}.${GROUP}`;
  const key = bootstrapKey(expected);
  const create = () => store.put(table, key, 0, withSystemFields(expected, clock.now(), uuid(random)));
  const stored = store.get(table, key);
  if (stored === undefined) return void (await create());
  const reconciled = reconcile(stored.object, expected);
  switch (reconciled.kind) {
    case 'asItIs':
      return;
    case 'update':
      await store.put(table, key, stored.revision, reconciled.object);
      return;
    case 'replace':
      await store.remove(table, key, stored.revision);
      await create();
  }
}
