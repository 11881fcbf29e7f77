// Builds the status of a pool step by step. Each `apply*` returns the next status, or the same object if nothing
// changes, so that callers detect a change by identity.

import type { Instant } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import {
  type EligibleNode,
  type EligibleNodeLVMVolumeGroup,
  LONGEST_MESSAGE,
  type ReplicatedStoragePoolStatus as Status,
} from '#api/replicatedStoragePool';
import type { Problem } from './validate.ts';

/** The generation and time of a condition. */
export interface Observed {
  readonly generation: number;
  readonly now: Instant;
}

/** Removes fields of an older controller. Its phase is replaced later, so that it is never missing. */
export function applyLegacyFieldsCleared(status: Status): Status {
  if (!status.reason) return status;
  const { reason: _, ...rest } = status;
  return rest;
}

export function applyEligibleNodesAndIncrementRevisionIfChanged(
  status: Status,
  eligibleNodes: readonly EligibleNode[],
): Status {
  if (areEligibleNodesEqual(status.eligibleNodes ?? [], eligibleNodes)) return status;
  const { eligibleNodes: _, eligibleNodesRevision = 0, ...rest } = status;
  const next = { ...rest, eligibleNodesRevision: nextRevision(eligibleNodesRevision) };
  return eligibleNodes.length === 0 ? next : { ...next, eligibleNodes: [...eligibleNodes] };
}

const nextRevision = (revision: number | bigint): number | bigint =>
  typeof revision === 'bigint' || revision >= Number.MAX_SAFE_INTEGER ? BigInt(revision) + 1n : revision + 1;

/** `hint`: additional information for the message. */
export function applyReadyCondTrue(status: Status, count: number, observed: Observed, hint = ''): Status {
  const message = `Eligible nodes calculated successfully: ${count} nodes${hint === '' ? '' : `; ${hint}`}`;
  return applyReady(status, { status: 'True', reason: 'Ready', message }, observed);
}

/** Keeps the list: it may be outdated, but is not known to be wrong. */
export const applyReadyCondFalse = (
  status: Status,
  { reason, message }: Problem,
  observed: Observed,
): Status => applyReady(status, { status: 'False', reason, message: shortened(message) }, observed);

type Said = Required<Pick<Condition, 'status' | 'reason' | 'message'>>;

/** The condition, plus phase and message with the same content for components that read these. */
const applyReady = (status: Status, said: Said, observed: Observed): Status =>
  applyPhase(applyCondition(status, said, observed), said);

const PHASES: Readonly<Record<string, string>> = {
  Ready: 'Ready',
  LVMVolumeGroupNotFound: 'WaitingForLVMVolumeGroups',
};

/** A CRD without `status.message` drops the field, so its absence alone does not cause a write. */
function applyPhase(status: Status, { reason, message }: Said): Status {
  const phase = PHASES[reason] ?? 'InvalidConfiguration';
  const isSame = status.phase === phase && (status.message ?? message) === message;
  return isSame ? status : { ...status, phase, message };
}

function applyCondition(status: Status, said: Said, { generation, now }: Observed): Status {
  const condition = { type: 'Ready', ...said, observedGeneration: generation };
  const conditions = setCondition(status.conditions, condition, now);
  return conditions === status.conditions ? status : { ...status, conditions };
}

/** Truncates to the limit of the schema, which counts characters, as [...text] does. */
function shortened(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  const characters = [...message];
  return characters.length <= LONGEST_MESSAGE
    ? message
    : `${characters.slice(0, LONGEST_MESSAGE - 1).join('')}…`;
}

export function areEligibleNodesEqual(a: readonly EligibleNode[], b: readonly EligibleNode[]): boolean {
  return a.length === b.length && a.every((node, i) => isSameNode(node, b[i]!));
}

const isSameNode = (a: EligibleNode, b: EligibleNode): boolean =>
  a.nodeName === b.nodeName &&
  (a.zoneName ?? '') === (b.zoneName ?? '') &&
  a.nodeReady === b.nodeReady &&
  a.unschedulable === b.unschedulable &&
  a.agentReady === b.agentReady &&
  areLVGsEqual(a.lvmVolumeGroups ?? [], b.lvmVolumeGroups ?? []);

export function areLVGsEqual(
  a: readonly EligibleNodeLVMVolumeGroup[],
  b: readonly EligibleNodeLVMVolumeGroup[],
): boolean {
  return a.length === b.length && a.every((lvg, i) => isSameLVG(lvg, b[i]!));
}

const isSameLVG = (a: EligibleNodeLVMVolumeGroup, b: EligibleNodeLVMVolumeGroup): boolean =>
  a.name === b.name &&
  (a.thinPoolName ?? '') === (b.thinPoolName ?? '') &&
  a.unschedulable === b.unschedulable &&
  a.ready === b.ready;
