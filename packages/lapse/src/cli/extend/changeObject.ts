// Makes the change that a user wants on one object. The changed object is explained before the patch is sent: if no rule
// honors the change, nothing is written. The patch carries the uid and resourceVersion that were explained.

import { applyMergePatch } from '@lapse/apiserver/schema/mergePatch';
import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { matchesLabels, parseLabelSelector } from '@lapse/kube/api/selectors';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { type Source, whole } from '@lapse/runtime/source';
import { type ExplainOptions, explainObject } from '#forecast/explain/explainObject';
import type { Explanation } from '#forecast/explain/explanation';
import { findObject } from '#forecast/explain/findObject';
import type { Read } from '#forecast/snapshot';
import { timeText } from '../times.ts';
import {
  type Change,
  describeDeletedWith,
  type Edit,
  proposeChanges,
  type RequestedChange,
} from './proposeChanges.ts';

export type Changed =
  | {
      readonly kind: 'changed';
      readonly edits: readonly Edit[];
      readonly before: Explanation;
      readonly after: Explanation;
    }
  /** The object was as the user wants it. */
  | { readonly kind: 'unchanged'; readonly after: Explanation }
  /** Nothing was written. */
  | { readonly kind: 'refused'; readonly why: string; readonly unread: readonly string[] };

export interface ChangeOptions {
  readonly client: Client;
  /** Everything but the object to be explained. */
  readonly explain: Omit<ExplainOptions, 'cascade'>;
  readonly kind: ServedKind;
  readonly key: { readonly name: string; readonly namespace: string };
  readonly requested: RequestedChange;
  /** Show the change, and write nothing. */
  readonly dryRun: boolean;
}

/** How often the object may change between the explanation and the patch. */
const ROUNDS = 5;
const FIELD_MANAGER = 'lapse-cli';

export async function changeObject(options: ChangeOptions): Promise<Changed> {
  for (let round = 1; round <= ROUNDS; round++) {
    const changed = await attempt(options);
    if (changed !== 'conflict') return changed;
  }
  return { kind: 'refused', why: 'it changes too often; try again', unread: [] };
}

async function attempt(options: ChangeOptions): Promise<Changed | 'conflict'> {
  const { client, kind, key, requested, dryRun } = options;
  const object = await findObject(client, kind, key);
  const before = await explainAs(options, object);
  const { unread } = before;
  const proposal = proposeChanges({ kind, object, explanation: before }, requested);
  if (proposal.kind === 'unchanged') return { kind: 'unchanged', after: before };
  if (proposal.kind === 'refused') return { ...proposal, unread };
  const chosen = await choose(options, object, proposal.changes);
  if ('why' in chosen) return { kind: 'refused', why: chosen.why, unread };
  const { change, after } = chosen;
  if (dryRun) return { kind: 'changed', edits: change.edits, before, after };
  const { resourceVersion, uid } = object.metadata;
  const result = await client.patch(
    kind as Kind,
    keyOf(object),
    { type: 'merge', patch: change.patch },
    {
      fieldManager: FIELD_MANAGER,
      ...(resourceVersion === undefined ? {} : { ifVersion: resourceVersion }),
      ...(uid === undefined ? {} : { ifUid: uid }),
    },
  );
  switch (result.kind) {
    case 'patched':
      return {
        kind: 'changed',
        edits: change.edits,
        before,
        after: await explainAs(options, result.object),
      };
    case 'conflict':
      if (result.by === 'changed') return 'conflict';
      throw result.error;
    case 'missing':
      return { kind: 'refused', why: 'it was deleted meanwhile', unread };
    case 'invalid':
      throw result.error;
  }
}

type Chosen = { readonly change: Change; readonly after: Explanation } | { readonly why: string };

/** The first change that the rules honor. */
async function choose(
  options: ChangeOptions,
  object: KubeObject,
  changes: readonly Change[],
): Promise<Chosen> {
  let why = '';
  for (const change of changes) {
    const changed = applyMergePatch(asJson(object), change.patch) as unknown as KubeObject;
    const after = await explainAs(options, changed);
    const early = deletedBefore(after, change.notBefore);
    if (early === undefined) return { change, after };
    why = early;
  }
  return { why };
}

/** Why the object is deleted too early all the same; undefined if it is not. */
function deletedBefore(
  { decision }: Explanation,
  notBefore: Instant | 'never' | undefined,
): string | undefined {
  if (notBefore === undefined || (decision.kind !== 'deleted' && decision.kind !== 'deletedWith'))
    return undefined;
  if (notBefore !== 'never' && decision.at >= notBefore) return undefined;
  const at = timeText(decision.at);
  if (decision.kind === 'deletedWith') {
    return describeDeletedWith(decision.what, at);
  }
  const { rule, family } = decision.by;
  return `${rule} deletes it at ${at} all the same${HINTS[family] ?? ''}`;
}

const HINTS: Readonly<Record<string, string>> = {
  'ttl-policy':
    ': the policy does not allow overrides; set spec.allowOverrides: true in the policy, or run lapse keep',
  cleaner: ': a Cleaner does not read annotations of its targets; extend or keep the Cleaner',
};

/** Explains the object as given instead of as the API server has it. */
const explainAs = (
  { explain, kind }: Pick<ChangeOptions, 'explain' | 'kind'>,
  object: KubeObject,
): Promise<Explanation> =>
  explainObject({ ...explain, read: readingWith(explain.read, kind, object), cascade: false }, kind, object);

/** Lists contain this object in the given state. A list of this object alone is not requested. */
function readingWith(read: Read, kind: ServedKind, object: KubeObject): Read {
  const { name, namespace, uid } = object.metadata;
  return async <T extends KubeObject>(source: Source<T>): Promise<T[]> => {
    const project = (source.projection?.project ?? whole.project) as (object: T) => T;
    const isOfKind = source.kind.group === kind.group && source.kind.kind === kind.kind;
    const isHere = source.namespace === undefined || source.namespace === namespace;
    if (isOfKind && isHere && source.fieldSelector === `metadata.name=${name}`)
      return isSelected(source, object) ? [project(object as T)] : [];
    const objects = await read(source);
    return objects.map((one) => (one.metadata.uid === uid && isOfKind ? project(object as T) : one));
  };
}

const isSelected = ({ labelSelector }: Pick<Source, 'labelSelector'>, { metadata }: KubeObject): boolean =>
  labelSelector === undefined || matchesLabels(parseLabelSelector(labelSelector), metadata.labels ?? {});
