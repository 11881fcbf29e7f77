// Simulated kubelet: runs and finishes only Pods with the annotation.

import { Pod } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { FINISH } from '../finish.ts';
import { takeSteps } from '../statusStep.ts';
import { computePodStep } from './compute.ts';

const podFacts = ({ metadata, status }: Pod) => ({
  finish: metadata.annotations?.[FINISH],
  ending: metadata.deletionTimestamp !== undefined,
  phase: status?.phase,
  start: status?.startTime,
});

export const podFinisher = (): ControllerDefinition =>
  defineController<Pod>({
    name: 'pod-finisher',
    for: Pod,
    facts: podFacts,
    rights: [{ group: '', resource: 'pods/status', verbs: ['patch'] }],
    reconcile: takeSteps({
      kind: Pod,
      compute: computePodStep,
      invalid: 'InvalidFinish',
      waitsFor: 'finish',
    }),
  }) as ControllerDefinition;
