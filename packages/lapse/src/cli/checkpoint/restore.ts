// lapse checkpoint restore: shows the changes as computed by the API server, and applies them on request.

import type { KubeObject } from '@lapse/kube/api/object';
import { MAX_OBJECTS } from '#checkpoint/read';
import { carryOut, type Done } from '#checkpoint/restore/act';
import type { Change } from '#checkpoint/restore/diff';
import { type PlanOptions, planRestore, type Step } from '#checkpoint/restore/plan';
import { type Prepared, prepareRestore } from '#checkpoint/restore/prepare';
import { UsageError } from '#manager/usage';
import { type CommandContext, counted, type ExitCode, styled } from '../commandContext.ts';
import { findCheckpoint } from './findCheckpoint.ts';
import { objectsOf } from './objects.ts';

export interface RestoreFlags {
  readonly namespace?: string;
  readonly only?: readonly string[];
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly createNamespace?: boolean;
  readonly forceConflicts?: boolean;
  readonly skipRefused?: boolean;
  readonly includeFinished?: boolean;
  readonly maxObjects?: number;
  readonly output: 'text' | 'json';
}

interface Restore {
  readonly name: string;
  readonly source: string;
  readonly target: string;
  readonly prepared: readonly Prepared[];
  readonly options: PlanOptions;
}

export async function restoreCheckpoint(
  commandContext: CommandContext,
  name: string,
  flags: RestoreFlags,
): Promise<ExitCode> {
  const restore = await readRestore(commandContext, name, flags);
  const steps = await planWithProgress(commandContext, restore);
  if (flags.output === 'text') await commandContext.out(planText(commandContext, restore, steps));
  const isAllowed = flags.skipRefused === true || !steps.some(({ kind }) => kind === 'refused');
  const acts = flags.yes === true && flags.dryRun !== true && isAllowed;
  if (acts && flags.output === 'text') await commandContext.out('\n');
  const done = acts ? await act(commandContext, restore, steps, flags) : [];
  const report = { restore, steps, done, acts, isAllowed };
  await commandContext.out(flags.output === 'json' ? jsonText(report) : endText(report, flags));
  return isAllowed && done.every(({ kind }) => kind !== 'failed') ? 0 : 1;
}

async function readRestore(
  commandContext: CommandContext,
  name: string,
  flags: RestoreFlags,
): Promise<Restore> {
  const { namespace, only = [], maxObjects = MAX_OBJECTS } = flags;
  if (namespace !== undefined && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
    throw new UsageError(`--namespace ${namespace}: not a valid namespace name`);
  const checkpoint = await findCheckpoint(commandContext.client, name);
  const source = checkpoint.spec?.sourceNamespace ?? '';
  const objects: KubeObject[] = [];
  for await (const object of objectsOf(commandContext.client, checkpoint, { maxObjects, only }))
    objects.push(object);
  if (objects.length === 0 && only.length > 0)
    throw new UsageError(
      `${name} contains no ${only.join(' or ')}; "lapse checkpoint cat" shows its objects`,
    );
  const target = namespace ?? source;
  const { includeFinished = false, createNamespace = false, forceConflicts: force = false } = flags;
  return {
    name,
    source,
    target,
    prepared: prepareRestore(objects, { source, target, includeFinished }),
    options: { namespace: target, createNamespace, force },
  };
}

/** Objects between two progress messages. */
const SHOWN_EVERY = 25;

async function planWithProgress(
  commandContext: CommandContext,
  { prepared, options }: Restore,
): Promise<Step[]> {
  const onProgress = (done: number, total: number) => {
    if (done % SHOWN_EVERY === 0) commandContext.progress?.(`compared ${done} of ${total}`);
  };
  try {
    return await planRestore(commandContext.client, prepared, { ...options, onProgress });
  } finally {
    if (prepared.length >= SHOWN_EVERY) commandContext.progress?.('');
  }
}

/** A missing namespace is created first. The other objects are checked afterwards, before they are applied. */
async function act(
  commandContext: CommandContext,
  restore: Restore,
  steps: readonly Step[],
  flags: RestoreFlags,
): Promise<Done[]> {
  const done: Done[] = [];
  const carry = async (some: readonly Step[]): Promise<boolean> => {
    for await (const one of carryOut(commandContext.client, some, restore.options)) {
      done.push(one);
      if (flags.output === 'text') await commandContext.out(doneLine(commandContext, one));
    }
    return done.every(({ kind }) => kind !== 'failed');
  };
  const isUnchecked = (step: Step) => step.kind === 'create' && !step.checked;
  if (!steps.some(isUnchecked)) {
    await carry(steps);
    return done;
  }
  if (!(await carry(steps.filter((step) => !isUnchecked(step))))) return done;
  const checked = await planWithProgress(commandContext, restore);
  const refused = checked.filter((step) => step.kind === 'refused');
  if (refused.length > 0 && flags.skipRefused !== true) {
    for (const { what, because } of refused) {
      const one: Done = { kind: 'failed', what, because };
      done.push(one);
      if (flags.output === 'text') await commandContext.out(doneLine(commandContext, one));
    }
    return done;
  }
  await carry(checked);
  return done;
}

function planText(
  commandContext: CommandContext,
  { name, source, target, prepared }: Restore,
  steps: readonly Step[],
): string {
  const to = source === target ? '' : ` into ${target}`;
  const title = `Restore of ${name}: ${counted(prepared.length, 'object')} of namespace ${source}${to}\n\n`;
  return title + steps.map((step) => stepText(commandContext, step)).join('');
}

const STYLES = {
  create: 'green',
  change: 'yellow',
  unchanged: 'dim',
  skip: 'dim',
  refused: 'red',
} as const;
const INDENT = ' '.repeat(13);

function stepText(commandContext: CommandContext, step: Step): string {
  const lines = [`  ${styled(commandContext, STYLES[step.kind], step.kind.padEnd(9))}  ${step.what}`];
  if ('because' in step) lines.push(`${INDENT}${step.because}`);
  if (step.kind === 'create' && !step.checked) lines.push(`${INDENT}checked when its namespace exists`);
  if (step.kind === 'change') lines.push(...step.changes.map((change) => `${INDENT}${changeText(change)}`));
  if (step.kind === 'create' || step.kind === 'change')
    lines.push(...step.notes.map((note) => `${INDENT}note: ${note}`));
  return `${lines.join('\n')}\n`;
}

function changeText({ path, before, after }: Change): string {
  if (before === undefined) return `${path}: + ${after}`;
  if (after === undefined) return `${path}: - ${before}`;
  return `${path}: ${before} → ${after}`;
}

const doneLine = (commandContext: CommandContext, done: Done): string =>
  done.kind === 'failed'
    ? `  ${styled(commandContext, 'red', 'failed   ')}  ${done.what}\n${INDENT}${done.because}\n`
    : `  ${styled(commandContext, 'green', done.kind.padEnd(9))}  ${done.what}\n`;

interface Report {
  readonly restore: Restore;
  readonly steps: readonly Step[];
  readonly done: readonly Done[];
  readonly acts: boolean;
  readonly isAllowed: boolean;
}

const count = (items: readonly { readonly kind: string }[], kind: string): number =>
  items.filter((item) => item.kind === kind).length;

function endText({ steps, done, acts, isAllowed }: Report, flags: RestoreFlags): string {
  const n = (kind: Step['kind']) => count(steps, kind);
  const plan = `\n${n('create')} to create, ${n('change')} to change, ${n('unchanged')} unchanged, ${n('skip')} skipped, ${n('refused')} refused.\n`;
  if (!isAllowed)
    return `${plan}Nothing has been changed: the API server refuses some objects. --only or --skip-refused restores the others.\n`;
  const isNothing = n('create') + n('change') === 0;
  if (isNothing) return `${plan}Nothing to do.\n`;
  if (!acts)
    return `${plan}Nothing has been changed.${flags.dryRun === true ? '' : ' Add --yes to carry it out.'}\n`;
  const failed = count(done, 'failed');
  const made = `\n${count(done, 'created')} created, ${count(done, 'changed')} changed, ${n('unchanged')} unchanged.\n`;
  return failed === 0 ? made : `${made}${failed} failed; repeat the command to continue.\n`;
}

function jsonText({ restore, steps, done, acts }: Report): string {
  const plan = steps.map((step) => ({
    action: step.kind,
    object: step.what,
    ...('because' in step ? { because: step.because } : {}),
    ...(step.kind === 'change' ? { changes: step.changes } : {}),
    ...(step.kind === 'create' ? { checked: step.checked } : {}),
    ...(step.notes.length === 0 ? {} : { notes: step.notes }),
  }));
  const { name: checkpoint, source, target } = restore;
  const results = done.map(({ what, kind, ...more }) => ({ result: kind, object: what, ...more }));
  const document = { checkpoint, source, target, carriedOut: acts, plan, ...(acts ? { results } : {}) };
  return `${JSON.stringify(document, null, 2)}\n`;
}
