// Checks whether eligible nodes can be computed. The order of the checks is fixed and the first failure is reported:
// LVMVolumeGroups exist, thin pools are in their spec, selector and zones can be parsed, and the grace period is a
// duration.

import { GoDurationError, parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import {
  DEFAULT_GRACE_PERIOD,
  type EligibleNode,
  MOST_ELIGIBLE_NODES,
  MOST_LVGS_PER_NODE,
  type ReplicatedStoragePool,
} from '#api/replicatedStoragePool';
import { type NodeSelector, nodeSelectorOf } from './nodeSelector.ts';

export type LVGs = ReadonlyMap<string, LVMVolumeGroup>;

/** The original controller lacks the last two: states that the API server would otherwise reject again and again. */
export const NOT_READY_REASONS = [
  'LVMVolumeGroupNotFound',
  'InvalidLVMVolumeGroup',
  'InvalidNodeLabelSelector',
  'InvalidEligibleNodesPolicy',
  'TooManyEligibleNodes',
] as const;
export type NotReadyReason = (typeof NOT_READY_REASONS)[number];

export interface Problem {
  readonly kind: 'invalid';
  readonly reason: NotReadyReason;
  readonly message: string;
}

export type Validation =
  | Problem
  | {
      readonly kind: 'valid';
      readonly nodeSelector: Extract<NodeSelector, { kind: 'selector' }>;
      readonly gracePeriod: Millis;
    };

const invalid = (reason: NotReadyReason, message: string): Problem => ({ kind: 'invalid', reason, message });

export function validateRSPAndLVGs(rsp: ReplicatedStoragePool, lvgs: LVGs): Validation {
  const problem = missingLVGs(rsp, lvgs) ?? wrongThinPool(rsp, lvgs);
  if (problem !== undefined) return problem;
  const nodeSelector = nodeSelectorOf(rsp);
  if (nodeSelector.kind === 'problem') return invalid('InvalidNodeLabelSelector', nodeSelector.message);
  const gracePeriod = parseGracePeriod(rsp);
  if (typeof gracePeriod === 'string')
    return invalid('InvalidEligibleNodesPolicy', `Invalid EligibleNodesPolicy: ${gracePeriod}`);
  return { kind: 'valid', nodeSelector, gracePeriod };
}

/** A list that the schema would reject is reported in the condition instead of sent repeatedly. */
export function validateLimits(eligibleNodes: readonly EligibleNode[]): Problem | undefined {
  const count = eligibleNodes.length;
  if (count > MOST_ELIGIBLE_NODES)
    return invalid(
      'TooManyEligibleNodes',
      `Too many eligible nodes: ${count}, at most ${MOST_ELIGIBLE_NODES}`,
    );
  for (const { nodeName, lvmVolumeGroups = [] } of eligibleNodes)
    if (lvmVolumeGroups.length > MOST_LVGS_PER_NODE)
      return invalid(
        'TooManyEligibleNodes',
        `Too many LVMVolumeGroups on node ${quoteGo(nodeName)}: ${lvmVolumeGroups.length}, at most ${MOST_LVGS_PER_NODE}`,
      );
  return undefined;
}

function missingLVGs({ spec }: ReplicatedStoragePool, lvgs: LVGs): Problem | undefined {
  const missing = spec.lvmVolumeGroups.map(({ name }) => name).filter((name) => !lvgs.has(name));
  if (missing.length === 0) return undefined;
  const lines = [...new Set(missing)].map((name) => `LVMVolumeGroup ${quoteGo(name)} not found`).sort();
  return invalid('LVMVolumeGroupNotFound', `Some LVMVolumeGroups not found: ${lines.join('\n')}`);
}

function wrongThinPool({ spec }: ReplicatedStoragePool, lvgs: LVGs): Problem | undefined {
  if (spec.type !== 'LVMThin') return undefined;
  for (const { name, thinPoolName = '' } of spec.lvmVolumeGroups) {
    const pools = lvgs.get(name)?.spec?.thinPools ?? [];
    const wrong = (what: string) =>
      invalid('InvalidLVMVolumeGroup', `RSP/LVG validation failed: LVMVolumeGroup ${quoteGo(name)}: ${what}`);
    if (thinPoolName === '') return wrong('thinPoolName is required for LVMThin type');
    if (!pools.some((pool) => pool.name === thinPoolName))
      return wrong(`thinPool ${quoteGo(thinPoolName)} not found in Spec.ThinPools`);
  }
  return undefined;
}

/** The grace period, or the error message. Rounded up to a millisecond, so that no node is removed early. */
function parseGracePeriod({ spec }: ReplicatedStoragePool): Millis | string {
  const text = spec.eligibleNodesPolicy?.notReadyGracePeriod ?? DEFAULT_GRACE_PERIOD;
  try {
    const nanos = parseGoDuration(text);
    if (nanos < 0n) return `notReadyGracePeriod ${quoteGo(text)} is negative`;
    return millis(Number((nanos + 999_999n) / 1_000_000n));
  } catch (error) {
    if (error instanceof GoDurationError) return `notReadyGracePeriod: ${error.message}`;
    throw error;
  }
}
