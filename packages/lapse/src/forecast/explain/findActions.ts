// The effects of a policy or a Cleaner on other objects. A policy is evaluated for everything it selects. A Cleaner
// names what it deletes.

import type { Family } from '#controllers/family';
import type { ObjectName } from '#controllers/forecaster';
import { collectForecasts, NOTHING_KNOWN } from '../forecast.ts';
import { createSnapshot } from '../snapshot.ts';
import type { Action } from './explanation.ts';
import type { RuleContext } from './ruleContext.ts';

const RULES: ReadonlySet<string> = new Set(['TTLPolicy', 'ClusterTTLPolicy', 'Cleaner']);

/** Undefined for an object that is no rule. Sorted: deletions by time, then held objects, then kept ones. */
export async function findActions(
  { served, read, onUnread, ...context }: RuleContext,
  object: ObjectName,
): Promise<Action[] | undefined> {
  if (!RULES.has(object.kind)) return undefined;
  const isOurs = (family: Family) => family.kinds.some(({ kind }) => kind.kind === object.kind);
  const families = context.known.filter(isOurs);
  if (families.length === 0) return undefined;
  const rule = `${object.kind} ${object.namespace === undefined ? '' : `${object.namespace}/`}${object.name}`;
  const setting = { ...context, snapshot: createSnapshot(served, read) };
  const actions: Action[] = [];
  for await (const { statement } of collectForecasts(setting, families, NOTHING_KNOWN, onUnread)) {
    if (statement.object.uid === object.uid || statement.kind === 'changes') continue;
    if (!statement.rule.split(', ').includes(rule)) continue;
    const { object: other, because } = statement;
    const at = statement.kind === 'deleted' ? { at: statement.at } : {};
    actions.push({ object: other, says: statement.kind, because, ...at });
  }
  return actions.sort((a, b) => (a.at ?? Number.POSITIVE_INFINITY) - (b.at ?? Number.POSITIVE_INFINITY));
}
