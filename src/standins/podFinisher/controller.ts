// Runs and finishes Pods that carry the annotation, and no others.

import { keyOf } from '#api/kind';
import { Pod } from '#api/kinds/builtin';
import { assertNever } from '#base/assertNever';
import { type ControllerDefinition, defineController } from '#runtime/definition';
import { type Outcome, settled, terminal, waitUntil } from '#runtime/outcome';
import type { Pass } from '#runtime/pass';
import { FINISH } from '../finish.ts';
import { patchStatus } from '../patchStatus.ts';
import { computePodStep } from './compute.ts';

const podFacts = ({ metadata, status }: Pod) => ({
  finish: metadata.annotations?.[FINISH],
  ending: metadata.deletionTimestamp !== undefined,
  phase: status?.phase,
  start: status?.startTime,
});

async function reconcile(pass: Pass): Promise<Outcome> {
  const pod = pass.cache.get(Pod, pass.key);
  if (pod === undefined) return settled();
  const step = computePodStep(pod, pass.now);
  switch (step.kind) {
    case 'nothing':
      return settled();
    case 'invalid':
      return terminal('InvalidFinish', step.problem);
    case 'wait':
      return waitUntil(step.until, 'finish');
    case 'write':
      return patchStatus(pass, Pod, keyOf(pod), { of: pod, status: step.status });
    default:
      return assertNever(step);
  }
}

export const podFinisher = (): ControllerDefinition =>
  defineController<Pod>({
    name: 'pod-finisher',
    for: Pod,
    facts: podFacts,
    rights: [{ group: '', resource: 'pods/status', verbs: ['patch'] }],
    reconcile,
  }) as ControllerDefinition;
