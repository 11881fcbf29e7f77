// What a TTL decision reads of a Job: identity, TTL, opt-out, deletion mark and the conditions that end it.

import type { KubeObject } from '#api/object';
import type { Projection } from '#runtime/source';

export interface JobCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

export interface Job extends KubeObject {
  spec?: { ttlSecondsAfterFinished?: number };
  status?: { conditions?: JobCondition[] };
}

const TERMINAL = new Set(['Complete', 'Failed']);
const OPT_OUT = 'lapse.dev/ttl';

export const ttlProjection: Projection<Job> = {
  name: 'ttl',
  project({ apiVersion, kind, metadata, spec, status }) {
    const { name, namespace, uid, resourceVersion, deletionTimestamp, annotations } = metadata;
    const conditions = status?.conditions
      ?.filter(({ type }) => TERMINAL.has(type))
      .map(({ type, status, lastTransitionTime }) => ({ type, status, lastTransitionTime }) as JobCondition);
    const optOut = annotations?.[OPT_OUT];
    return {
      apiVersion,
      kind,
      metadata: {
        name,
        namespace,
        uid,
        resourceVersion,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
        ...(optOut === undefined ? {} : { annotations: { [OPT_OUT]: optOut } }),
      } as Job['metadata'],
      ...(spec?.ttlSecondsAfterFinished === undefined
        ? {}
        : { spec: { ttlSecondsAfterFinished: spec.ttlSecondsAfterFinished } }),
      ...(conditions === undefined || conditions.length === 0 ? {} : { status: { conditions } }),
    };
  },
};
