// Computes when an object finished and whether it succeeded, by the expressions of a policy or by common status fields.

import { type Evaluation, messageWithoutData, Optional, type Program, type Value } from '@lapse/cel/cel';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Finish } from '#expiry/expiry';
import { computeStatusFinish, finishAt, type Unjudged, unjudged } from '#expiry/statusFinish';
import type { CompiledPolicy } from './compile.ts';

/** Corresponds to at most ten milliseconds; an expression over a dozen conditions costs about a hundred. */
const COST_LIMIT = 200_000;

export function computeFinish(policy: CompiledPolicy, object: KubeObject): Finish | Unjudged {
  if (object.metadata.deletionTimestamp !== undefined) return { kind: 'beingDeleted' };
  const { finish } = policy;
  if (finish.kind === 'created') return finishAt(object.metadata.creationTimestamp, 'created');
  if (finish.kind === 'usual') return computeStatusFinish(object);
  const found = evaluate(finish.program, object);
  if (found.kind === 'error') return found.isAbsence ? { kind: 'unfinished' } : unjudged(found.note);
  return finishAt(found.value, 'spec.finishedAt');
}

/** Whether the object succeeded. Call it only for finished objects. */
export function computeOutcome(program: Program, object: KubeObject): boolean | Unjudged {
  const found = evaluate(program, object);
  if (found.kind === 'error') return unjudged(`spec.succeeded: ${found.note}`);
  return typeof found.value === 'boolean' ? found.value : unjudged('spec.succeeded: it gave no bool');
}

interface Failed extends Unjudged {
  readonly isAbsence: boolean;
}

/** Notes appear in the status and in Events, so they contain no data of the object. */
function evaluate(program: Program, object: KubeObject): { kind: 'value'; value: Value } | Failed {
  const evaluation: Evaluation = program.evaluate({ object }, COST_LIMIT);
  if (evaluation.kind === 'exhausted')
    return { kind: 'error', note: 'the evaluation costs more than is allowed', isAbsence: false };
  if (evaluation.kind === 'error') {
    const { message } = evaluation;
    const note = messageWithoutData(message, program.source.text);
    return { kind: 'error', note, isAbsence: isAbsence(message) };
  }
  const { value } = evaluation;
  return { kind: 'value', value: value instanceof Optional ? (value.heldValue ?? null) : value };
}

/** A missing field usually means that the object has not finished. */
const isAbsence = (note: string): boolean => note.startsWith('no such key: ');
