// For tests: Cleaners, the YAML of the seed, and revisions in the form Knative writes them.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Cleaner, CleanerSpec } from '#api/cleaner';

export const cleaner = (
  spec: Partial<CleanerSpec> = {},
  more: Partial<KubeObject['metadata']> = {},
): Cleaner => ({
  apiVersion: 'cleaner.vtex.dev/v1alpha',
  kind: 'Cleaner',
  metadata: { name: 'c', namespace: 'default', ...more },
  spec: { ttl: '1h', ...spec },
});

/** The condition of the proposal, verbatim. */
export const SEED_CONDITION = `!revisions.items.exists(r,
  r.metadata.annotations["serving.knative.dev/routes"]
    .split(",")
    .exists(route, !route.startsWith("sfj-") && !route.startsWith("preview-"))
  ||
  r.status.conditions
    .filter(c, c.type == "Active")
    .exists(c, c.status == "True" || time - timestamp(c.lastTransitionTime) < duration("360h"))
)
`;

/** The same, for revisions that lost the annotation with their last route. */
export const GUARDED_CONDITION = `!revisions.items.exists(r,
  has(r.metadata.annotations) && "serving.knative.dev/routes" in r.metadata.annotations &&
  r.metadata.annotations["serving.knative.dev/routes"]
    .split(",")
    .exists(route, !route.startsWith("sfj-") && !route.startsWith("preview-"))
  ||
  r.status.conditions
    .filter(c, c.type == "Active")
    .exists(c, c.status == "True" || time - timestamp(c.lastTransitionTime) < duration("360h"))
)
`;

export interface RevisionGiven {
  readonly routes?: string;
  readonly active?: 'True' | 'False' | 'Unknown';
  /** When the condition Active last changed. */
  readonly since: string;
  readonly labels?: Record<string, string>;
  readonly namespace?: string;
}

export const revision = (name: string, given: RevisionGiven): KubeObject => ({
  apiVersion: 'serving.knative.dev/v1',
  kind: 'Revision',
  metadata: {
    name,
    namespace: given.namespace ?? 'default',
    labels: given.labels ?? { 'vtex.io/proxy': 'p1' },
    ...(given.routes === undefined ? {} : { annotations: { 'serving.knative.dev/routes': given.routes } }),
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: given.since },
      { type: 'Active', status: given.active ?? 'False', lastTransitionTime: given.since },
    ],
  },
});
