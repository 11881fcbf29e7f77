// Facts are complete: a decision reads only fields that are facts, equal facts lead to equal results, and fields
// dropped by the caches are not needed.

import type { Node } from '@lapse/kube/api/kinds/builtin';
import { factsChanged } from '@lapse/runtime/facts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { computeActualEligibleNodes, isAgentReady } from './decide.ts';
import { agent, at, inputs, type LVGParts, lvg, type NodeParts, node, pool } from './pool.testkit.ts';
import {
  lvgFacts,
  lvgProjection,
  mightSelect,
  nodeFacts,
  nodeProjection,
  podFacts,
  podProjection,
} from './sources.ts';

describe('decisions read only fields that are facts', () => {
  /** The object, and the paths of everything that is read from it. List elements are `[]`. */
  function recorded<T extends object>(object: T): { object: T; read: Set<string> } {
    const read = new Set<string>();
    const wrap = (value: object, path: string): object =>
      new Proxy(value, {
        get(target, key, receiver) {
          const found: unknown = Reflect.get(target, key, receiver);
          if (typeof key === 'symbol' || typeof found === 'function') return found;
          if (Array.isArray(target) && key === 'length') return found;
          const at = Array.isArray(target) ? `${path}[]` : path === '' ? key : `${path}.${key}`;
          if (typeof found === 'object' && found !== null) return wrap(found, at);
          read.add(at);
          return found;
        },
        getOwnPropertyDescriptor(target, key) {
          if (typeof key === 'string' && !Array.isArray(target)) read.add(`${path}.${key}`);
          return Reflect.getOwnPropertyDescriptor(target, key);
        },
      });
    return { object: wrap(object, '') as T, read };
  }
  const IDENTITY = new Set(['metadata.name', 'metadata.uid', 'metadata.namespace']);
  const missing = (decision: Set<string>, facts: Set<string>) =>
    [...decision].filter(
      (path) => !facts.has(path) && !IDENTITY.has(path) && !/^status\.conditions\[\]\.type$/.test(path),
    );

  const states: NodeParts[] = [
    {},
    { zone: 'a', labels: { disk: 'ssd' } },
    { ready: 'False' },
    { ready: null },
    { ready: 'Unknown', since: null, unschedulable: true },
  ];
  test('of a node', () => {
    for (const parts of states) {
      const decision = recorded(node('n', parts));
      const rsp = pool('p', ['vg'], { nodeLabelSelector: { matchLabels: { disk: 'ssd' } } });
      computeActualEligibleNodes(inputs({ rsp, nodes: [decision.object] }), at(0));
      mightSelect(rsp, decision.object);
      const facts = recorded(node('n', parts));
      JSON.stringify(nodeFacts(facts.object));
      // All labels together are a fact, so reading a single label is allowed.
      const read = new Set([...decision.read].filter((path) => !path.startsWith('metadata.labels.')));
      expect(missing(read, facts.read)).toEqual([]);
      expect(read.size).toBeGreaterThan(2);
    }
  });
  test('of a volume group', () => {
    for (const parts of [
      { thinPools: { tp: true } },
      { ready: null },
      { annotations: { 'storage.deckhouse.io/lvmVolumeGroupUnschedulable': '' } },
    ] as LVGParts[]) {
      const decision = recorded(lvg('vg', 'n', parts));
      computeActualEligibleNodes(
        {
          ...inputs({ rsp: pool('p', ['vg/tp']), nodes: [node('n')] }),
          lvgs: new Map([['vg', decision.object]]),
        },
        at(0),
      );
      const facts = recorded(lvg('vg', 'n', parts));
      JSON.stringify(lvgFacts(facts.object));
      expect(missing(decision.read, facts.read)).toEqual([]);
      expect(decision.read.size).toBeGreaterThan(0);
    }
  });
  test('of a Pod', () => {
    const decision = recorded(agent('a', 'n'));
    isAgentReady(decision.object);
    const facts = recorded(agent('a', 'n'));
    JSON.stringify(podFacts(facts.object));
    expect(missing(decision.read, facts.read)).toEqual([]);
  });
});

describe('equal facts lead to equal results, and fields dropped by the caches are not needed', () => {
  const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
  const nodeParts = fc.record(
    {
      zone: fc.constantFrom('a', ''),
      labels: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2')),
      ready: fc.constantFrom('True', 'False', 'Unknown', null),
      since: fc.constantFrom(0, 1000, null),
      createdAt: fc.constantFrom(0, 1000),
      unschedulable: fc.boolean(),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<NodeParts>;
  const lvgParts = fc.record(
    {
      ready: fc.constantFrom('True', 'False', null),
      thinPools: fc.dictionary(fc.constantFrom('tp', 'other'), fc.boolean()),
      annotations: fc.dictionary(
        fc.constantFrom('a', 'storage.deckhouse.io/lvmVolumeGroupUnschedulable'),
        fc.constantFrom('', 'true'),
      ),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<LVGParts>;
  const compute = (of: Node, group: LVMVolumeGroup) =>
    computeActualEligibleNodes(inputs({ rsp: pool('p', ['vg/tp']), nodes: [of], lvgs: [group] }), at(2000));

  test('nodes and volume groups', () => {
    fc.assert(
      fc.property(nodeParts, nodeParts, lvgParts, lvgParts, maybe(fc.string()), (a, b, c, d, noise) => {
        const [one, two] = [node('n', a), node('n', b)];
        const [first, second] = [lvg('vg', 'n', c), lvg('vg', 'n', d)];
        Object.assign(one.status!, { noise });
        Object.assign(first.spec!, { noise });
        const answer = compute(one, first);
        expect(compute(nodeProjection.project(one), lvgProjection.project(first))).toEqual(answer);
        expect(nodeFacts(nodeProjection.project(one))).toEqual(nodeFacts(one));
        expect(lvgFacts(lvgProjection.project(first))).toEqual(lvgFacts(first));
        if (!factsChanged(nodeFacts, one, two) && !factsChanged(lvgFacts, first, second))
          expect(compute(two, second)).toEqual(answer);
      }),
      { numRuns: 300 },
    );
  });
  test('Pods', () => {
    for (const pod of [
      agent('a', 'n'),
      agent('a', '', { ready: null }),
      agent('a', 'n', { terminating: true }),
    ])
      expect(podFacts(podProjection.project(pod))).toEqual(podFacts(pod));
  });
});
