// Replays one recorded case against a target, in a separate namespace, and returns the result.

import { randomBytes } from 'node:crypto';
import { type Clock, realClock } from '@lapse/base/clock';
import { show } from './compare.ts';
import { buildRequest, exchange } from './exchange.ts';
import { runStep, runSteps, type StepContext } from './steps.ts';
import {
  type CaseResult,
  Difference,
  type Target,
  type Vars,
  type WireCase,
  type WireFile,
} from './types.ts';

export interface RunOptions {
  readonly clock?: Clock;
  /** The value of `{{ns}}`. Default: an unused name. */
  readonly ns?: string;
}

export async function runCase(
  file: WireFile,
  wireCase: WireCase,
  target: Target,
  options: RunOptions = {},
): Promise<CaseResult> {
  const why = whyNot(wireCase, target);
  if (why !== undefined) return { kind: 'skipped', why };
  try {
    await replay(file, wireCase, contextOf(file, wireCase, { target, ...options }));
    return { kind: 'passed' };
  } catch (e) {
    const text = e instanceof Difference ? e.message : ((e as Error).stack ?? String(e));
    return { kind: 'failed', difference: text.replace(/\s*\n\s*/g, ' | ') };
  }
}

/** Why the case cannot run against this target, or undefined. */
function whyNot(wireCase: WireCase, target: Target): string | undefined {
  const text = JSON.stringify(wireCase);
  if (!target.nobodyToken && /"as":"nobody"|\{\{nobodyToken\}\}/.test(text))
    return 'needs a token without rights';
  if (!target.adminToken && /"as":"anonymous"|"as":"stranger"|\{\{adminToken\}\}/.test(text))
    return 'needs authentication';
  if (!target.compact && /"compact":true/.test(text)) return 'needs compaction';
  return undefined;
}

const runId = randomBytes(4)
  .toString('hex')
  .replace(/^[0-9]/, 'f');
let serial = 0;
const newName = () => `w${runId}-${(++serial).toString(36).padStart(3, '0')}`;

function contextOf(file: WireFile, wireCase: WireCase, run: RunOptions & { target: Target }): StepContext {
  const { target } = run;
  const vars: Vars = {
    ns: run.ns ?? newName(),
    ...(target.adminToken ? { adminToken: target.adminToken } : {}),
    ...(target.nobodyToken ? { nobodyToken: target.nobodyToken } : {}),
  };
  return {
    target,
    clock: run.clock ?? realClock,
    vars,
    keepManagedFields: wireCase.managedFields ?? file.managedFields ?? false,
    dropDescriptions: wireCase.dropDescriptions ?? file.dropDescriptions ?? false,
    lenient: false,
  };
}

async function replay(file: WireFile, wireCase: WireCase, context: StepContext): Promise<void> {
  if (needsNamespace(wireCase)) await createNamespace(context);
  try {
    await runSteps(wireCase.steps, context, 'step');
  } finally {
    for (const step of wireCase.cleanup ?? []) {
      await runStep(step, { ...context, lenient: true }, 'cleanup').catch(() => {});
    }
  }
}

export const needsNamespace = (wireCase: WireCase): boolean =>
  wireCase.namespace ?? JSON.stringify(wireCase.steps).includes('/namespaces/{{ns}}/');

async function createNamespace({ vars, target, clock }: StepContext): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: vars.ns! } };
  const request = buildRequest({ method: 'POST', path: '/api/v1/namespaces', body }, vars, target);
  const answer = await exchange(request, target, clock);
  if (answer.status !== 201)
    throw new Difference(`could not make namespace ${vars.ns}: ${answer.status} ${show(answer.body)}`);
}
