// For tests: random sequences of changes to nodes, volume groups, agents and pools, and their execution on a Model.
// Names and values are few, so that objects often interact.

import { formatTime, millis, plus } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import fc from 'fast-check';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { type LabelSelectorSpec, ReplicatedStoragePool } from '#api/replicatedStoragePool';
import type { Mishap, Model } from './model.testkit.ts';
import {
  AGENTS,
  agent,
  type LVGParts,
  lvg,
  type NodeParts,
  node,
  type PoolParts,
  pool,
} from './pool.testkit.ts';

type Tell = (model: Model) => Promise<unknown>;
export interface Step {
  readonly text: string;
  readonly tell: Tell;
}

const nodeName = fc.constantFrom('n1', 'n2', 'n3');
const lvgName = fc.constantFrom('v1', 'v2', 'v3');
const poolName = fc.constantFrom('p1', 'p2');
const podName = fc.constantFrom('a1', 'a2', 'a3');
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });

const step = <T>(name: string, values: fc.Arbitrary<T>, tell: (model: Model, value: T) => Promise<unknown>) =>
  values.map(
    (value): Step => ({ text: `${name} ${JSON.stringify(value)}`, tell: (model) => tell(model, value) }),
  );

/** Creates or updates the object. Immutable fields are changed by deleting it first. */
async function put<T extends KubeObject>(
  { user }: Model,
  kind: Kind<T>,
  object: T,
  anew = false,
): Promise<void> {
  const key = keyOf(object);
  if (anew) await user.delete(kind, key, { gracePeriodSeconds: 0 });
  const { status, ...rest } = object as KubeObject;
  const there = anew ? undefined : await user.get(kind, key);
  if (there === undefined) objectOf(await user.create(kind, rest as unknown as T));
  else {
    const metadata = { ...rest.metadata, resourceVersion: there.metadata.resourceVersion! };
    const next = Object.assign({}, there, rest, { metadata });
    const answer = await user.update(kind, next);
    // The update changes an immutable field.
    if (answer.kind === 'invalid') return put({ user } as Model, kind, object, true);
    objectOf(answer);
  }
  if (status !== undefined)
    objectOf(await user.patch(kind, key, { type: 'merge', patch: { status } }, { subresource: 'status' }));
}

const nodeParts = fc.record({
  name: nodeName,
  zone: optional(fc.constantFrom('a', 'b')),
  disk: optional(fc.constantFrom('ssd', 'hdd')),
  ready: fc.constantFrom('True', 'True', 'False', 'Unknown', null),
  /**
   * Seconds from now. Not in the future: such a transition counts from its first observation, which a restarted
   * controller does not know.
   */
  since: fc.constantFrom(-301, -300, -299, -60, -1, 0),
  unschedulable: fc.boolean(),
});
const lvgParts = fc.record({
  name: lvgName,
  on: fc.oneof(nodeName, fc.constant('')),
  ready: fc.constantFrom('True', 'False', null),
  thinPools: fc.dictionary(fc.constantFrom('t1', 't2'), fc.boolean()),
  marked: fc.boolean(),
});
const podParts = fc.record({
  name: podName,
  on: fc.oneof(nodeName, fc.constant('')),
  ready: fc.constantFrom('True', 'True', 'False', null),
  namespace: fc.constantFrom(AGENTS, AGENTS, AGENTS, 'default'),
  app: fc.constantFrom('agent', 'agent', 'agent', 'other'),
});
const selector = fc.constantFrom<LabelSelectorSpec>(
  {},
  { matchLabels: { disk: 'ssd' } },
  { matchExpressions: [{ key: 'disk', operator: 'NotIn', values: ['hdd'] }] },
  { matchExpressions: [{ key: 'disk', operator: 'Exists' }] },
  { matchExpressions: [{ key: 'disk', operator: 'DoesNotExist' }] },
  { matchLabels: { 'not a key': 'x' } },
);
const poolParts = fc.record({
  name: poolName,
  references: fc.array(
    fc.oneof({ weight: 5, arbitrary: lvgName }, { weight: 1, arbitrary: fc.constant('nowhere') }),
    { minLength: 1, maxLength: 3 },
  ),
  thin: optional(fc.constantFrom('t1', 't2')),
  zones: optional(fc.uniqueArray(fc.constantFrom('a', 'b', 'not a zone'), { minLength: 1, maxLength: 2 })),
  nodeLabelSelector: optional(selector),
  grace: fc.constantFrom('0s', '1s', '5m', '5m', '1h'),
});
const POOLS = 'replicatedstoragepools';
const resources = fc.constantFrom('nodes', 'lvmvolumegroups', 'pods', POOLS, POOLS, POOLS);
const mishaps = fc.array(fc.constantFrom<Mishap>(409, 429, 500, 'lostBefore', 'lostAfter', 'overtaken'), {
  minLength: 1,
  maxLength: 3,
});
const lengths = fc.constantFrom(1, 999, 1000, 59_999, 60_000, 299_999, 300_000, 300_001, 3_600_000);

const STEPS = [
  {
    weight: 6,
    arbitrary: step('node', nodeParts, (model, { name, disk, since, zone, ready, unschedulable }) => {
      const parts = { ready, unschedulable, ...(zone === undefined ? {} : { zone }) } as NodeParts;
      const made = node(name, { ...parts, labels: disk === undefined ? {} : { disk } });
      const condition = made.status!.conditions![1];
      if (condition !== undefined)
        condition.lastTransitionTime = formatTime(plus(model.clock.now(), millis(since * 1000)));
      const { creationTimestamp: _, ...metadata } = made.metadata;
      return put(model, Node, { ...made, metadata });
    }),
  },
  { weight: 1, arbitrary: step('node gone', nodeName, ({ user }, name) => user.delete(Node, { name })) },
  {
    weight: 5,
    arbitrary: step('lvg', lvgParts, (model, { name, on, marked, ready, thinPools }) => {
      const annotations = marked ? { 'storage.deckhouse.io/lvmVolumeGroupUnschedulable': '' } : {};
      return put(model, LVMVolumeGroup, lvg(name, on, { ready, thinPools, annotations } as LVGParts));
    }),
  },
  {
    weight: 1,
    arbitrary: step('lvg gone', lvgName, ({ user }, name) => user.delete(LVMVolumeGroup, { name })),
  },
  {
    weight: 4,
    arbitrary: step('pod', podParts, (model, { name, on, ready, namespace, app }) => {
      const made = agent(name, on, { ready, namespace, app });
      const spec = { ...made.spec, containers: [{ name: 'agent', image: 'agent' }] };
      return put(model, Pod, { ...made, spec }, true);
    }),
  },
  {
    weight: 2,
    arbitrary: step('pod leaves', podName, ({ user }, name) =>
      user.delete(Pod, { namespace: AGENTS, name }, { gracePeriodSeconds: 30 }),
    ),
  },
  {
    weight: 4,
    arbitrary: step(
      'pool',
      poolParts,
      (model, { name, references, thin, zones, nodeLabelSelector, grace }) => {
        const parts: PoolParts = {
          grace,
          ...(zones === undefined ? {} : { zones }),
          ...(nodeLabelSelector === undefined ? {} : { nodeLabelSelector }),
        };
        const named = references.map((reference) =>
          thin === undefined ? reference : `${reference}/${thin}`,
        );
        return put(model, ReplicatedStoragePool, pool(name, named, parts), true);
      },
    ),
  },
  {
    weight: 2,
    arbitrary: step(
      'grace',
      fc.tuple(poolName, fc.constantFrom('0s', '1s', '5m', '1h')),
      ({ user }, [name, grace]) => {
        const patch = { spec: { eligibleNodesPolicy: { notReadyGracePeriod: grace } } };
        return user.patch(ReplicatedStoragePool, { name }, { type: 'merge', patch });
      },
    ),
  },
  {
    weight: 1,
    arbitrary: step(
      'used',
      fc.tuple(poolName, fc.array(fc.constantFrom('x', 'y'))),
      ({ user }, [name, names]) => {
        const patch = { status: { usedBy: { replicatedStorageClassNames: names } } };
        return user.patch(
          ReplicatedStoragePool,
          { name },
          { type: 'merge', patch },
          { subresource: 'status' },
        );
      },
    ),
  },
  {
    weight: 1,
    arbitrary: step('pool gone', poolName, ({ user }, name) => user.delete(ReplicatedStoragePool, { name })),
  },
  { weight: 4, arbitrary: step('time', lengths, (model, length) => model.pass(length)) },
  { weight: 2, arbitrary: step('quiet', fc.constant(0), (model) => model.settle()) },
  { weight: 2, arbitrary: step('check', fc.constant(0), (model) => model.check()) },
  { weight: 2, arbitrary: step('hold', resources, async (model, resource) => model.hold(resource)) },
  { weight: 1, arbitrary: step('release', fc.constant(0), async (model) => model.release()) },
  { weight: 1, arbitrary: step('break', fc.constant(0), async (model) => model.breakWatches()) },
  { weight: 2, arbitrary: step('mishap', mishaps, async (model, list) => model.mishap(...list)) },
  { weight: 1, arbitrary: step('crash', fc.constant(0), (model) => model.crash()) },
  { weight: 1, arbitrary: step('start', fc.constant(0), async (model) => model.start()) },
];

const weighted: [fc.MaybeWeightedArbitrary<Step>, ...fc.MaybeWeightedArbitrary<Step>[]] = [
  STEPS[0]!,
  ...STEPS.slice(1),
];
const steps = fc.array(fc.oneof(...weighted), { minLength: 5, maxLength: 30 });

/** A sequence that starts with one node, one volume group and one pool. */
export const story: fc.Arbitrary<Step[]> = fc
  .tuple(STEPS[0]!.arbitrary, STEPS[2]!.arbitrary, STEPS[6]!.arbitrary, steps)
  .map(([someNode, someLvg, somePool, rest]) => [someNode, someLvg, somePool, ...rest]);

/** Runs a sequence on a model and checks the result at the end. */
export async function runStory(model: Model, told: readonly Step[]): Promise<void> {
  model.start();
  for (const { tell } of told) await tell(model);
  await model.check();
}
