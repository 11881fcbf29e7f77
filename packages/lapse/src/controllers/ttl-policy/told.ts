// What people are told about objects, each thing once per object and process.

import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Regarded } from '@lapse/runtime/events/types';
import type { Pass } from '@lapse/runtime/pass';
import { Remembered } from '#deletion/remembered';
import type { End } from './combine.ts';
import { computeNotice } from './compute.ts';
import type { PolicyMetrics } from './metrics.ts';
import { metricKind } from './policies.ts';

const MOST_TOLD = 100_000;

export class Told {
  readonly #told = new Remembered(MOST_TOLD);
  readonly #metrics: Pick<PolicyMetrics, 'skipped'>;

  constructor(metrics: Pick<PolicyMetrics, 'skipped'>) {
    this.#metrics = metrics;
  }

  isFirst(what: string): boolean {
    if (this.#told.has(what)) return false;
    this.#told.add(what);
    return true;
  }

  /** Why it is left alone, where somebody should know. */
  tell(pass: Pass, kind: Kind, object: KubeObject, end: End): void {
    const notice = computeNotice(end);
    if (notice === undefined || !this.isFirst(`${object.metadata.uid} ${notice.because}`)) return;
    this.#metrics.skipped(metricKind(kind), notice.because);
    if (notice.reason === undefined) return;
    const { reason, note } = notice;
    pass.event(regarding(kind, object), { type: 'Warning', reason, action: 'Reconcile', note });
  }
}

/** Metadata that was asked for without the rest calls itself PartialObjectMetadata. */
export const regarding = (kind: Kind, { metadata }: KubeObject): Regarded => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata,
});
