// Lists the applied objects that are left, and why, in the wording of `lapse explain`. Objects that no rule covers
// (nodes, classes, CRDs) are not temporary and are omitted.

import type { Instant } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { refText } from '@lapse/simulation/refs';
import type { Family } from '#controllers/family';
import { explainObject } from '#forecast/explain/explainObject';
import type { Decision, RuleDecision } from '#forecast/explain/explanation';
import { readingFrom } from '#forecast/snapshot';
import type { General } from '#manager/configuration/general';
import { wrapped } from '../../help.ts';
import { cut } from '../panel.ts';

export interface Left {
  readonly ref: string;
  /** When it is deleted. Undefined: it is kept. */
  readonly at?: Instant;
  readonly because: string;
}

export interface RemainingOptions {
  readonly client: Client;
  readonly now: Instant;
  readonly general: General;
  readonly document: JsonObject;
  readonly known: readonly Family[];
  readonly selected: readonly Family[];
}

/** Objects that will be deleted first, in the order of time. */
export async function findRemaining(made: readonly KubeObject[], options: RemainingOptions): Promise<Left[]> {
  const { client } = options;
  const served = await client.discovery.all();
  const read = readingFrom(client);
  const left: Left[] = [];
  for (const { apiVersion, kind: name, metadata } of made) {
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
    const kind = served.find((one) => one.group === group && one.version === version && one.kind === name);
    if (kind === undefined) continue;
    const key = {
      name: metadata.name!,
      ...(kind.namespaced ? { namespace: metadata.namespace ?? 'default' } : {}),
    };
    const object = await client.get(kind, key);
    if (object === undefined) continue;
    const { decision } = await explainObject({ ...options, served, read, cascade: false }, kind, object);
    const why = computeWhy(decision);
    if (why !== undefined) left.push({ ref: refText(name, key), ...why });
  }
  return left.sort((a, b) => timeOf(a) - timeOf(b));
}

const timeOf = ({ at }: Left): number => at ?? Number.POSITIVE_INFINITY;

function computeWhy(decision: Decision): Omit<Left, 'ref'> | undefined {
  switch (decision.kind) {
    case 'deleted':
      return { at: decision.at, because: decision.by.because };
    case 'deletedWith': {
      const { at, what, because } = decision;
      return { at, because: `with ${refText(what.kind, what)}, which ${because}` };
    }
    case 'held':
      return { because: decision.by.because };
    case 'kept':
      return isTemporary(decision.by) ? { because: decision.by.because } : undefined;
    case 'terminating':
      return { because: `a finalizer keeps it: ${decision.finalizers.join(', ')}` };
    case 'changes':
    case 'noRule':
      return undefined;
  }
}

/** A pool is not temporary, and neither is a Pod without a TTL. */
const isTemporary = ({ family, reason }: RuleDecision): boolean =>
  family !== 'storage-pool' && reason !== 'NoTTL';

const MOST = 20;

/** Indent of wrapped reasons. */
const INDENT = 6;

/** At most `columns` wide. */
export function remainingText(
  left: readonly Left[],
  stamp: (at: Instant) => string,
  columns: number,
): string {
  const lines = ({ ref, at, because }: Left): string[] => {
    const head = `  ${ref.padEnd(24)} ${at === undefined ? 'kept' : `deleted ${stamp(at)}`}:`;
    if (head.length + 1 + because.length <= columns) return [`${head} ${because}`];
    const beneath = wrapped(because, columns - INDENT).map((line) => `${' '.repeat(INDENT)}${line}`);
    return [cut(head, columns), ...beneath];
  };
  const more = left.length > MOST ? [`  … and ${left.length - MOST} more`] : [];
  const head = left.length === 0 ? 'no temporary object is left' : `left, ${left.length}:`;
  return [head, ...left.slice(0, MOST).flatMap(lines), ...more].join('\n');
}
