// Simulated Job controller: finishes only Jobs with the annotation.

import { Job } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { FINISH } from '../finish.ts';
import { takeSteps } from '../statusStep.ts';
import { computeJobStep } from './compute.ts';

const jobFacts = ({ metadata, spec, status }: Job) => ({
  finish: metadata.annotations?.[FINISH],
  ending: metadata.deletionTimestamp !== undefined,
  suspend: spec?.suspend,
  start: status?.startTime,
  conditions: status?.conditions,
});

export const jobFinisher = (): ControllerDefinition =>
  defineController<Job>({
    name: 'job-finisher',
    for: Job,
    facts: jobFacts,
    rights: [{ group: 'batch', resource: 'jobs/status', verbs: ['patch'] }],
    reconcile: takeSteps({
      kind: Job,
      compute: computeJobStep,
      invalid: 'InvalidFinish',
      waitsFor: 'finish',
    }),
  }) as ControllerDefinition;
