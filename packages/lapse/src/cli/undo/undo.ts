// lapse undo: selects saved objects, shows the plan, asks, and carries it out.

import { readLength } from '#expiry/ttlAnnotation';
import { parseTarget } from '#forecast/resolveKind';
import { UsageError } from '#manager/usage';
import { carryOutUndo, type UndoResult } from '#trash/undo/act';
import { planUndo, type UndoStep } from '#trash/undo/plan';
import { prepareUndo } from '#trash/undo/prepare';
import { newestOfEach, type Wanted } from '#trash/undo/select';
import { type CommandContext, counted, type ExitCode } from '../commandContext.ts';
import { parseSince, readWanted, type TrashFlags, wantedKind } from '../trashAccess.ts';
import { endText, jsonText, planText, resultLine } from './text.ts';

export interface UndoFlags extends TrashFlags {
  readonly id?: string;
  readonly since?: string;
  readonly rule?: string;
  readonly namespace?: string;
  readonly ttl?: string;
  readonly suspended?: boolean;
  readonly force?: boolean;
  readonly diff?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly output: 'text' | 'json';
}

export async function undo(
  commandContext: CommandContext,
  object: string | undefined,
  flags: UndoFlags,
): Promise<ExitCode> {
  checkFlags(object, flags);
  const { clock, client } = commandContext;
  const isText = flags.output === 'text';
  const wanted = await readWantedFlags(commandContext, object, flags);
  const found = newestOfEach(await readWanted(commandContext, flags, wanted));
  if (found.length === 0) {
    commandContext.say('lapse: no saved object matches; "lapse trash list" lists them');
    return 1;
  }
  const { ttl, suspended = false, force = false } = flags;
  const options = { now: clock.now(), suspended, ...(ttl === undefined ? {} : { ttl }) };
  const steps = await planUndo(client, prepareUndo(found, options), { force });
  if (isText) await commandContext.out(planText(commandContext, steps, flags));
  const acts = await mayAct(commandContext, steps, flags);
  const results: UndoResult[] = [];
  if (acts)
    for await (const result of carryOutUndo(client, steps)) {
      results.push(result);
      if (isText) await commandContext.out(resultLine(commandContext, result));
    }
  const report = { steps, results, acts };
  await commandContext.out(isText ? endText(report, flags) : jsonText(report));
  return computeExitCode(report, flags);
}

function checkFlags(object: string | undefined, { id, since, rule, ttl }: UndoFlags): void {
  if (object === undefined && id === undefined && since === undefined && rule === undefined)
    throw new UsageError('say what to restore: KIND/NAME, --id, --since or --rule');
  if (object !== undefined && id !== undefined)
    throw new UsageError(`${object} and --id ${id}: use one of them`);
  if (ttl === undefined || ttl === 'never') return;
  if (typeof readLength(ttl) === 'string')
    throw new UsageError(`--ttl ${ttl}: must be never or a duration such as 48h`);
}

async function readWantedFlags(
  commandContext: CommandContext,
  object: string | undefined,
  { id, since, rule, namespace }: UndoFlags,
): Promise<Wanted> {
  const target = object === undefined ? undefined : parseTarget([object]);
  return {
    ...(id === undefined ? {} : { id }),
    ...(since === undefined ? {} : { since: parseSince(since, commandContext.clock.now()) }),
    ...(rule === undefined ? {} : { rule }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(target === undefined
      ? {}
      : { name: target.name, kind: await wantedKind(commandContext, target.kind) }),
  };
}

const isAction = ({ kind }: UndoStep): boolean => kind === 'create' || kind === 'replace';

/** With --yes, or after the user agreed on a terminal. */
async function mayAct(
  { ask }: CommandContext,
  steps: readonly UndoStep[],
  { yes, dryRun, output }: UndoFlags,
): Promise<boolean> {
  const actions = steps.filter(isAction).length;
  if (actions === 0 || dryRun === true) return false;
  if (yes === true) return true;
  if (ask === undefined || output === 'json') return false;
  return ask(`\nrestore ${counted(actions, 'object')}?`);
}

interface Report {
  readonly steps: readonly UndoStep[];
  readonly results: readonly UndoResult[];
  readonly acts: boolean;
}

/** An object that exists already needs nothing. A dry run succeeds if everything could be restored. */
function computeExitCode({ steps, results, acts }: Report, { dryRun }: UndoFlags): ExitCode {
  const blocked = steps.filter(({ kind }) => kind === 'skip' || kind === 'refused').length;
  const planned = steps.filter(isAction).length;
  if (!acts) {
    if (planned > 0 && dryRun !== true) return 1;
    if (blocked === 0) return 0;
    return planned > 0 ? 3 : 1;
  }
  const failed = results.filter(({ kind }) => kind === 'failed').length;
  if (failed + blocked === 0) return 0;
  return failed < results.length ? 3 : 1;
}
