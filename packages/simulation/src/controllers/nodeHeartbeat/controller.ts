// Simulated kubelet heartbeat: keeps only labelled Nodes ready.

import { Node } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { takeSteps } from '../statusStep.ts';
import { computeNodeStep, HEARTBEAT } from './compute.ts';

const nodeFacts = ({ metadata, status }: Node) => ({
  heartbeat: metadata.labels?.[HEARTBEAT],
  ending: metadata.deletionTimestamp !== undefined,
  ready: status?.conditions?.find(({ type }) => type === 'Ready'),
});

export const nodeHeartbeat = (): ControllerDefinition =>
  defineController<Node>({
    name: 'node-heartbeat',
    for: Node,
    facts: nodeFacts,
    rights: [{ group: '', resource: 'nodes/status', verbs: ['patch'] }],
    reconcile: takeSteps({
      kind: Node,
      compute: computeNodeStep,
      invalid: 'InvalidHeartbeat',
      waitsFor: 'heartbeat',
    }),
  }) as ControllerDefinition;
