// Finishes Jobs that carry the annotation, and no others.

import { keyOf } from '#api/kind';
import { Job } from '#api/kinds/builtin';
import { assertNever } from '#base/assertNever';
import { type ControllerDefinition, defineController } from '#runtime/definition';
import { type Outcome, settled, terminal, waitUntil } from '#runtime/outcome';
import type { Pass } from '#runtime/pass';
import { FINISH } from '../finish.ts';
import { patchStatus } from '../patchStatus.ts';
import { computeJobStep } from './compute.ts';

const jobFacts = ({ metadata, spec, status }: Job) => ({
  finish: metadata.annotations?.[FINISH],
  ending: metadata.deletionTimestamp !== undefined,
  suspend: spec?.suspend,
  start: status?.startTime,
  conditions: status?.conditions,
});

async function reconcile(pass: Pass): Promise<Outcome> {
  const job = pass.cache.get(Job, pass.key);
  if (job === undefined) return settled();
  const step = computeJobStep(job, pass.now);
  switch (step.kind) {
    case 'nothing':
      return settled();
    case 'invalid':
      return terminal('InvalidFinish', step.problem);
    case 'wait':
      return waitUntil(step.until, 'finish');
    case 'write':
      return patchStatus(pass, Job, keyOf(job), { of: job, status: step.status });
    default:
      return assertNever(step);
  }
}

export const jobFinisher = (): ControllerDefinition =>
  defineController<Job>({
    name: 'job-finisher',
    for: Job,
    facts: jobFacts,
    rights: [{ group: 'batch', resource: 'jobs/status', verbs: ['patch'] }],
    reconcile,
  }) as ControllerDefinition;
