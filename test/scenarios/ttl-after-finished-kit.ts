// Jobs and Pods that end, told alike: the standing scenarios are played with both.

import { formatTime, type Instant, type Millis, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { Kind } from '@lapse/kube/api/kind';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { expect } from 'vitest';
import { at, finishedJob } from './kit.ts';
import type { Scene } from './words.ts';

export const POD_TTL = 'lapse.dev/ttl-seconds-after-finished';

export interface PodParts {
  readonly status?: Pod['status'];
  readonly spec?: object;
  readonly metadata?: object;
}

/** Asks for its end. */
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

/** A container that ended so long after the scenario began; without a length it does not say when. */
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

/** A kind that ends some time after it finished. */
export interface Ending {
  readonly kind: Kind;
  readonly resource: string;
  /** What it is called in refs. */
  readonly ref: (name: string) => string;
  begin(scene: Scene, section?: object): void;
  finished(name: string, options: { readonly ttl: Millis; readonly finishedAt?: Instant }): KubeObject;
  /** The merge patch that changes its TTL. */
  ttl(ttl: Millis): object;
  /** A change of its status that moves nothing. */
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

/** What of the process's requests went to single objects of the kind. */
export const askedOf = ({ then }: Scene, { resource }: Ending): string[] =>
  then.requests((seen) => seen.resource === resource && seen.name !== undefined).map(({ method }) => method);

/** How many of the kind there are. */
export const countOf = async ({ simulation }: Scene, { kind }: Ending): Promise<number> =>
  (await (await simulation()).user.list(kind)).items.length;

/** What the process has counted as its own deletions. */
export async function expectCounted({ simulation }: Scene, deletions: number): Promise<void> {
  const lines = (await simulation()).registry.text().split('\n');
  const counted = lines
    .filter((line) => /^lapse_ttl_deleted_total\{.*outcome="(deleted|terminating)"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  expect(counted).toBe(deletions);
}
