// Keeps labelled Nodes ready, and no others.

import { keyOf } from '#api/kind';
import { Node } from '#api/kinds/builtin';
import { assertNever } from '#base/assertNever';
import { type ControllerDefinition, defineController } from '#runtime/definition';
import { type Outcome, settled, terminal, waitUntil } from '#runtime/outcome';
import type { Pass } from '#runtime/pass';
import { patchStatus } from '../patchStatus.ts';
import { computeNodeStep, HEARTBEAT } from './compute.ts';

const nodeFacts = ({ metadata, status }: Node) => ({
  heartbeat: metadata.labels?.[HEARTBEAT],
  ending: metadata.deletionTimestamp !== undefined,
  ready: status?.conditions?.find(({ type }) => type === 'Ready'),
});

async function reconcile(pass: Pass): Promise<Outcome> {
  const node = pass.cache.get(Node, pass.key);
  if (node === undefined) return settled();
  const step = computeNodeStep(node, pass.now);
  switch (step.kind) {
    case 'nothing':
      return settled();
    case 'invalid':
      return terminal('InvalidHeartbeat', step.problem);
    case 'wait':
      return waitUntil(step.until, 'heartbeat');
    case 'write':
      return patchStatus(pass, Node, keyOf(node), { of: node, status: { conditions: step.conditions } });
    default:
      return assertNever(step);
  }
}

export const nodeHeartbeat = (): ControllerDefinition =>
  defineController<Node>({
    name: 'node-heartbeat',
    for: Node,
    facts: nodeFacts,
    rights: [{ group: '', resource: 'nodes/status', verbs: ['patch'] }],
    reconcile,
  }) as ControllerDefinition;
