// Selects saved objects by what a user asks for. Pure.

import { type Instant, parseTime } from '@lapse/base/instant';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { TrashRecord } from '../record.ts';

/** Unset fields select everything. */
export interface Wanted {
  readonly id?: string;
  readonly since?: Instant;
  readonly namespace?: string;
  /** Group and kind; without a group, of any group. Kinds are compared without case. */
  readonly kind?: { readonly group?: string; readonly kind: string };
  readonly name?: string;
  /** `TTLPolicy ci/runs`, `ci/runs` or `runs`. */
  readonly rule?: string;
}

export function isWanted(record: TrashRecord, wanted: Wanted): boolean {
  const { id, since, namespace, kind, name, rule } = wanted;
  const { metadata } = record.object;
  return (
    (id === undefined || record.metadata.name === id) &&
    (since === undefined || parseTime(record.savedAt) >= since) &&
    (namespace === undefined || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    (rule === undefined || isRule(record.rule, rule)) &&
    (kind === undefined || isKind(record.object, kind))
  );
}

const isRule = (rule: string, asked: string): boolean =>
  rule === asked || rule.endsWith(` ${asked}`) || rule.endsWith(`/${asked}`);

const isKind = (object: KubeObject, { group, kind }: NonNullable<Wanted['kind']>): boolean =>
  object.kind.toLowerCase() === kind.toLowerCase() && (group === undefined || groupOf(object) === group);

const groupOf = ({ apiVersion }: KubeObject): string => parseApiVersion(apiVersion)?.group ?? '';

/** `apps/Deployment shop/web`: the same for all versions of a kind. */
export const identityOf = (object: KubeObject): string =>
  `${groupOf(object)}/${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;

/** Each deletion once: an object may have been saved twice in the same version. */
export function withoutRepeats(records: readonly TrashRecord[]): TrashRecord[] {
  const byId = new Map<string, TrashRecord>();
  for (const record of records) if (!byId.has(record.metadata.name)) byId.set(record.metadata.name, record);
  return [...byId.values()];
}

/** The newest saved state of each object. `records` are sorted by time. */
export function newestOfEach(records: readonly TrashRecord[]): TrashRecord[] {
  const byObject = new Map<string, TrashRecord>();
  for (const record of records) {
    const identity = identityOf(record.object);
    byObject.delete(identity);
    byObject.set(identity, record);
  }
  return [...byObject.values()];
}
