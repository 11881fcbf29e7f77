// Finished Jobs and Pods behind one interface, so that the standard failure scenarios run with both.

import { formatTime, type Instant, type Millis, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { Kind } from '@lapse/kube/api/kind';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { expect } from 'vitest';
import { at, finishedJob } from './kit.ts';
import type { Scene } from './scene.ts';

export const POD_TTL = 'lapse.dev/ttl-seconds-after-finished';

export interface PodParts {
  readonly status?: Pod['status'];
  readonly spec?: object;
  readonly metadata?: object;
}

/** A Pod that opts in to deletion by annotation. */
export const pod = (name: string, ttl: string, more: PodParts = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations: { [POD_TTL]: ttl }, ...more.metadata },
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'busybox' }],
    ...more.spec,
  } as Pod['spec'] & object,
  ...(more.status === undefined ? {} : { status: more.status }),
});

/** A container that terminated this long after the start of the scenario. Without a duration it has no finish time. */
export const container = (name: string, ended?: Millis) => ({
  name,
  image: 'busybox',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: {
    terminated: { exitCode: 0, ...(ended === undefined ? {} : { finishedAt: formatTime(at(ended)) }) },
  },
});

/** A kind that expires some time after it finished. */
export interface Ending {
  readonly kind: Kind;
  readonly resource: string;
  /** Its name in refs. */
  readonly ref: (name: string) => string;
  begin(scene: Scene, section?: object): void;
  finished(name: string, options: { readonly ttl: Millis; readonly finishedAt?: Instant }): KubeObject;
  /** The merge patch that changes its TTL. */
  ttl(ttl: Millis): object;
  /** A change of its status that does not affect the decision. */
  readonly restatus: object;
}

export const JOBS: Ending = {
  kind: Job,
  resource: 'jobs',
  ref: (name) => `job/${name}`,
  begin({ given }, section = {}) {
    given.controllers('ttl-after-finished');
    given.configuration({ ttlAfterFinished: { jobPropagation: 'Background', ...section } });
  },
  finished: finishedJob,
  ttl: (ttl) => ({ spec: { ttlSecondsAfterFinished: ttl / 1000 } }),
  restatus: { ready: 0 },
};

export const PODS: Ending = {
  kind: Pod,
  resource: 'pods',
  ref: (name) => `pod/${name}`,
  begin({ given }, section = {}) {
    given.controllers('ttl-after-finished');
    given.gates({ TTLAfterFinished: false, TTLAfterFinishedPods: true });
    given.configuration({ ttlAfterFinished: section as never });
  },
  finished: (name, { ttl, finishedAt = VIRTUAL_START }) => {
    const ended = container('main', seconds((finishedAt - VIRTUAL_START) / 1000));
    return pod(name, String(ttl / 1000), { status: { phase: 'Succeeded', containerStatuses: [ended] } });
  },
  ttl: (ttl) => ({ metadata: { annotations: { [POD_TTL]: String(ttl / 1000) } } }),
  restatus: { message: 'looked at' },
};

/** Requests of the process to single objects of the kind. */
export const askedOf = ({ then }: Scene, { resource }: Ending): string[] =>
  then.requests((seen) => seen.resource === resource && seen.name !== undefined).map(({ method }) => method);

/** The number of objects of the kind. */
export const countOf = async ({ simulation }: Scene, { kind }: Ending): Promise<number> =>
  (await (await simulation()).user.list(kind)).items.length;

/** Expects that the process counted this many deletions as its own. */
export async function expectCounted({ simulation }: Scene, deletions: number): Promise<void> {
  const lines = (await simulation()).registry.text().split('\n');
  const counted = lines
    .filter((line) => /^lapse_ttl_deleted_total\{.*outcome="(deleted|terminating)"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  expect(counted).toBe(deletions);
}
