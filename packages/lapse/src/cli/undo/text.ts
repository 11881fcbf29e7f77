// The output of lapse undo.

import type { Change } from '#checkpoint/restore/diff';
import type { UndoResult } from '#trash/undo/act';
import type { UndoStep } from '#trash/undo/plan';
import { type CommandContext, counted, styled } from '../commandContext.ts';

type Styling = Pick<CommandContext, 'colour'>;

const STYLES = { create: 'green', replace: 'yellow', exists: 'dim', skip: 'dim', refused: 'red' } as const;
const INDENT = ' '.repeat(11);

export const planText = (
  styling: Styling,
  steps: readonly UndoStep[],
  flags: { readonly diff?: boolean },
): string => steps.map((step) => stepText(styling, step, flags.diff === true)).join('');

function stepText(styling: Styling, step: UndoStep, isDiff: boolean): string {
  const { record, what } = step;
  const lines = [
    `  ${styled(styling, STYLES[step.kind], step.kind.padEnd(7))}  ${what}`,
    `${INDENT}deleted ${record.savedAt} by ${record.rule}`,
  ];
  if ('because' in step) lines.push(`${INDENT}${step.because}`);
  if (step.kind === 'exists')
    lines.push(
      `${INDENT}${step.isSame ? 'it was saved, but not deleted' : 'it exists; --force replaces it'}`,
    );
  if (step.kind === 'replace' || (step.kind === 'exists' && isDiff))
    lines.push(...step.changes.map((change) => `${INDENT}${changeText(change)}`));
  if (step.kind === 'create' || step.kind === 'replace')
    lines.push(...step.notes.map((note) => `${INDENT}note: ${note}`));
  return `${lines.join('\n')}\n`;
}

function changeText({ path, before, after }: Change): string {
  if (before === undefined) return `${path}: + ${after}`;
  if (after === undefined) return `${path}: - ${before}`;
  return `${path}: ${before} → ${after}`;
}

export function resultLine(styling: Styling, result: UndoResult): string {
  if (result.kind === 'failed')
    return `  ${styled(styling, 'red', 'failed')}   ${result.what}\n${INDENT}${result.because}\n`;
  const notes = result.notes.map((note) => `${INDENT}note: ${note}\n`).join('');
  return `  ${styled(styling, 'green', result.kind.padEnd(7))}  ${result.what}\n${notes}`;
}

interface Report {
  readonly steps: readonly UndoStep[];
  readonly results: readonly UndoResult[];
  readonly acts: boolean;
}

const count = (items: readonly { readonly kind: string }[], kind: string): number =>
  items.filter((item) => item.kind === kind).length;

export function endText({ steps, results, acts }: Report, { dryRun }: { readonly dryRun?: boolean }): string {
  const n = (kind: UndoStep['kind']) => count(steps, kind);
  if (acts) {
    const restored = results.length - count(results, 'failed');
    return `\n${counted(restored, 'object')} restored, ${count(results, 'failed')} failed, ${n('skip')} skipped, ${n('refused')} refused.\n`;
  }
  const plan = `\n${n('create')} to create, ${n('replace')} to replace, ${n('exists')} exist, ${n('skip')} skipped, ${n('refused')} refused.\n`;
  const isNothing = n('create') + n('replace') === 0;
  if (isNothing) return `${plan}Nothing to do.\n`;
  return `${plan}Nothing has been changed.${dryRun === true ? '' : ' Add --yes to carry it out.'}\n`;
}

export function jsonText({ steps, results, acts }: Report): string {
  const plan = steps.map((step) => ({
    action: step.kind,
    id: step.record.metadata.name,
    object: step.what,
    rule: step.record.rule,
    deletedAt: step.record.savedAt,
    ...('because' in step ? { because: step.because } : {}),
    ...(step.kind === 'replace' || step.kind === 'exists' ? { changes: step.changes } : {}),
    ...(step.notes.length === 0 ? {} : { notes: step.notes }),
  }));
  const done = results.map(({ kind, what, ...more }) => ({ result: kind, object: what, ...more }));
  const document = { carriedOut: acts, plan, ...(acts ? { results: done } : {}) };
  return `${JSON.stringify(document, null, 2)}\n`;
}
