// A plan for programs: the same shape as in memory, times as RFC 3339.

import { stringify } from 'yaml';
import type { Change, Held, Plan, PlannedEnd } from './plan.ts';
import { timeText } from './times.ts';

const changeOf = ({ at, ...rest }: Change | PlannedEnd) => ({ at: timeText(at), ...rest });
const heldOf = ({ until, ...rest }: Held) => ({
  ...rest,
  ...(until === undefined ? {} : { until: timeText(until) }),
});

function planDocument({ made, until, ends, held, changes = [], unread = [], ...rest }: Plan): object {
  return {
    made: timeText(made),
    until: timeText(until),
    ...rest,
    ends: ends.map(changeOf),
    held: held.map(heldOf),
    changes: changes.map(changeOf),
    unread,
  };
}

export const planJson = (plan: Plan): string => `${JSON.stringify(planDocument(plan), null, 2)}\n`;
export const planYaml = (plan: Plan): string =>
  stringify(planDocument(plan), { lineWidth: 0, aliasDuplicateObjects: false });
