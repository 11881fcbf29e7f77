// Decisions of one policy, and the expected ones in tables.

import { type Instant, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { expect } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { decideForPolicy } from './decide.ts';
import { compiled, time } from './policy.testkit.ts';

export type Spec = Partial<ClusterTTLPolicySpec>;

const tolerance = seconds(30);
export const expiry = (spec: Spec, object: KubeObject, now: Instant) =>
  decideForPolicy(compiled(spec), object, { now, tolerance });

export const condition = (type: string, status: string, finished?: number, reason?: string) => ({
  conditions: [
    {
      type,
      status,
      ...(finished === undefined ? {} : { lastTransitionTime: time(finished) }),
      ...(reason === undefined ? {} : { reason }),
    },
  ],
});

export const waiting = (until: Instant) => ({ kind: 'waiting', until });
export const expired = (since: Instant) => ({ kind: 'expired', since });
export const kept = (because: string, note?: RegExp) => ({
  kind: 'notApplicable',
  because,
  ...(note === undefined ? {} : { note: expect.stringMatching(note) }),
});
export const error = (note: RegExp) => ({ kind: 'error', note: expect.stringMatching(note) });
