// The result of extend, keep and release as text and as a document.

import { plainText } from '#console/escape';
import type { Explanation } from '#forecast/explain/explanation';
import type { Naming } from '#forecast/resolveKind';
import { relativeTime, timeText } from '../times.ts';
import type { Changed } from './changeObject.ts';
import type { Edit } from './proposeChanges.ts';

type Made = Exclude<Changed, { kind: 'refused' }>;

/** `job/report -n ci`. */
export const titleOf = ({ object }: Explanation, naming: Naming): string =>
  `${naming(object)}${object.namespace === undefined ? '' : ` -n ${object.namespace}`}`;

const becauseOf = ({ decision }: Explanation): string | undefined => {
  if ('by' in decision) return decision.by.because;
  return decision.kind === 'deletedWith' ? decision.because : undefined;
};

/** What explain says about the deadline. */
function deadlineText({ decision, now }: Explanation): string {
  switch (decision.kind) {
    case 'deleted':
    case 'deletedWith':
      return `is deleted at ${timeText(decision.at)} (${relativeTime(decision.at, now)})`;
    case 'held': {
      const { at } = decision.by;
      return at === undefined ? 'is kept' : `is held until ${timeText(at)} (${relativeTime(at, now)})`;
    }
    case 'terminating':
      return `is terminating since ${timeText(decision.since)}`;
    default:
      return 'is kept';
  }
}

const editText = ({ field, before = 'unset', after = 'removed' }: Edit): string =>
  `${field}: ${before} → ${after}`;

export function madeText(made: Made, naming: Naming, dryRun: boolean): string {
  const { after } = made;
  const because = becauseOf(after);
  const lines = [
    `${titleOf(after, naming)} ${deadlineText(after)}${dryRun ? ' (dry run)' : ''}`,
    ...(made.kind === 'changed'
      ? [
          `  before    ${deadlineText(made.before)}`,
          ...made.edits.map((edit) => `  changed   ${editText(edit)}`),
        ]
      : ['  changed   nothing']),
    ...(because === undefined ? [] : [`  because   ${because}`]),
  ];
  return lines.map((line) => `${plainText(line)}\n`).join('');
}

const deadlineOf = ({ decision }: Explanation): string | undefined => {
  if (decision.kind === 'deleted' || decision.kind === 'deletedWith') return timeText(decision.at);
  return decision.kind === 'held' && decision.by.at !== undefined ? timeText(decision.by.at) : undefined;
};

/** `deadline` is missing if the object is kept. */
export function madeJson(made: Made, dryRun: boolean): string {
  const { after } = made;
  const [deadline, because] = [deadlineOf(after), becauseOf(after)];
  const before = made.kind === 'changed' ? deadlineOf(made.before) : deadline;
  const document = {
    object: after.object,
    decision: after.decision.kind,
    ...(deadline === undefined ? {} : { deadline }),
    ...(before === undefined ? {} : { deadlineBefore: before }),
    changes: made.kind === 'changed' ? made.edits : [],
    ...(because === undefined ? {} : { because }),
    dryRun,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
