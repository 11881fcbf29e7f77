// Reports about objects as Events and metrics, each at most once per object and process.

import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Regarded } from '@lapse/runtime/events/types';
import type { Pass } from '@lapse/runtime/pass';
import { BoundedSet } from '#deletion/boundedSet';
import type { End } from './combine.ts';
import { computeNotice } from './compute.ts';
import type { PolicyMetrics } from './metrics.ts';
import { metricKind } from './policies.ts';

const MOST_REPORTS = 100_000;

export class Reports {
  readonly #reported = new BoundedSet(MOST_REPORTS);
  readonly #metrics: Pick<PolicyMetrics, 'skipped'>;

  constructor(metrics: Pick<PolicyMetrics, 'skipped'>) {
    this.#metrics = metrics;
  }

  isFirst(what: string): boolean {
    if (this.#reported.has(what)) return false;
    this.#reported.add(what);
    return true;
  }

  /** Reports why an object is kept, if a user should know. */
  report(pass: Pass, kind: Kind, object: KubeObject, end: End): void {
    const notice = computeNotice(end);
    if (notice === undefined || !this.isFirst(`${object.metadata.uid} ${notice.because}`)) return;
    this.#metrics.skipped(metricKind(kind), notice.because);
    if (notice.reason === undefined) return;
    const { reason, note } = notice;
    pass.event(regarding(kind, object), { type: 'Warning', reason, action: 'Reconcile', note });
  }
}

/** The API server returns metadata-only objects as PartialObjectMetadata; Events need the real kind. */
export const regarding = (kind: Kind, { metadata }: KubeObject): Regarded => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata,
});
