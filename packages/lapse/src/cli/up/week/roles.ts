// Which example objects appear when in the week that `--speed` runs. Every object comes from the examples; here it
// gets longer times and is repeated day by day. Objects that are not listed exist unchanged from the start.

import { formatTime, hours, type Instant, instant, type Millis, minus } from '@lapse/base/instant';

export interface Moment {
  /** From 1 to 7. */
  readonly day: number;
  readonly at: Instant;
  /** Start of the week. */
  readonly start: Instant;
}

/** A merge patch for the object. */
export type Overlay = { readonly [field: string]: unknown };

export interface Role {
  /** The directory of the example. */
  readonly example: string;
  /** `Kind/name` of objects that are applied together. */
  readonly who: readonly string[];
  /** Hour of the day, plus a random part of an hour. Undefined: from the start. */
  readonly hour?: number;
  /** The object exists from the start, and this changes it. */
  readonly again?: true;
  /** Default: all seven. */
  readonly days?: readonly number[];
  /** Each day's object has its own name: the day is added to this part of every name. */
  readonly stem?: string;
  readonly as?: (moment: Moment, who: string) => Overlay;
}

const finish = (text: string): Overlay => ({ annotations: { 'simulation.lapse.dev/finish': text } });
const heartbeat = (label: string): Overlay => ({
  metadata: { labels: { 'simulation.lapse.dev/heartbeat': label } },
});

/** A revision that will have been idle for fifteen days, as its Cleaner requires, after this time. */
const staleIn = (left: Millis, { at }: Moment): Overlay => {
  const lastTransitionTime = formatTime(instant(at + left - hours(360)));
  return { status: { conditions: [{ type: 'Active', status: 'False', lastTransitionTime }] } };
};

const completed =
  (succeeded: 'True' | 'False') =>
  ({ at }: Moment): Overlay => ({
    status: {
      completionTime: formatTime(at),
      conditions: [{ type: 'Succeeded', status: succeeded, lastTransitionTime: formatTime(at) }],
    },
  });

const job = (example: string, name: string, hour: number, text: string, ttl: Millis): Role => ({
  example,
  who: [`Job/${name}`],
  hour,
  stem: name,
  as: () => ({ metadata: finish(text), spec: { ttlSecondsAfterFinished: ttl / 1000 } }),
});

const run = (name: string, hour: number, succeeded: 'True' | 'False'): Role => ({
  example: '03-tekton-runs',
  who: [`PipelineRun/${name}`],
  hour,
  stem: name,
  as: completed(succeeded),
});

const request = (example: string, who: string, hour: number, as?: Role['as']): Role => ({
  example,
  who: [who],
  hour,
  stem: who.slice(who.indexOf('/') + 1),
  ...(as === undefined ? {} : { as }),
});

const PREVIEW = 'sfj-4f2a--shop';

export const ROLES: readonly Role[] = [
  job('01-job-ttl', 'report', 1, 'succeeded after 40m', hours(8)),
  job('01-job-ttl', 'throw-away', 4, 'failed after 2h', hours(0)),
  job('10-dry-run-first', 'old-report', 5, 'succeeded after 1h', hours(20)),
  {
    example: '02-pod-ttl',
    who: ['Pod/build'],
    hour: 6,
    stem: 'build',
    as: () => ({
      metadata: {
        annotations: {
          ...(finish('succeeded after 30m').annotations as object),
          'lapse.dev/ttl-seconds-after-finished': String(hours(6) / 1000),
        },
      },
    }),
  },

  // One hour, five hours and three days, according to their policy.
  run('build-1', 8, 'True'),
  run('demo', 9, 'True'),
  run('build-2', 10, 'False'),
  { example: '03-tekton-runs', who: ['PipelineRun/under-study'], as: completed('False') },
  { example: '03-tekton-runs', who: ['PipelineRun/release-7'], as: completed('True') },

  {
    example: '04-volume-capture',
    who: ['VolumeSnapshotClass/fast-snapshots'],
    as: () => ({ metadata: { annotations: { 'simulation.lapse.dev/snapshot': '10h' } } }),
  },
  request('04-volume-capture', 'VolumeCaptureRequest/before-the-upgrade', 8),
  request('04-volume-capture', 'VolumeCaptureRequest/a-typo', 12),
  ...['04-volume-capture', '05-volume-restore'].map((example) => ({
    example,
    who: ['StorageClass/fast'],
    as: () => ({ metadata: { annotations: { 'simulation.lapse.dev/volume': '1h' } } }),
  })),
  request('05-volume-restore', 'VolumeRestoreRequest/last-week', 9, ({ day }) => ({
    spec: { targetPVCName: `orders-of-last-week-${day}` },
  })),
  request('05-volume-restore', 'VolumeRestoreRequest/impossible', 14),
  request('06-manifest-checkpoint', 'ManifestCaptureRequest/before-the-change', 15),
  request('06-manifest-checkpoint', 'ManifestCaptureRequest/a-typo', 16),

  // A node stops its heartbeat in the evening, the pool waits for the grace period, and the node returns before
  // midnight.
  { example: '07-storage-pool', who: ['Node/storage-c'], as: () => heartbeat('') },
  {
    example: '07-storage-pool',
    who: ['Node/storage-c'],
    hour: 17,
    again: true,
    as: ({ at, start }) => heartbeat(`stop-after-${minus(at, start) / 1000}s`),
  },
  {
    example: '07-storage-pool',
    who: ['Node/storage-c'],
    hour: 22,
    again: true,
    as: () => heartbeat(''),
  },
  {
    example: '07-storage-pool',
    who: ['ReplicatedStoragePool/replicated'],
    as: () => ({ spec: { eligibleNodesPolicy: { notReadyGracePeriod: '3h' } } }),
  },

  {
    example: '08-cleaner-knative',
    who: [
      `Service/${PREVIEW}`,
      `Revision/${PREVIEW}-00001`,
      `Revision/${PREVIEW}-00002`,
      `Cleaner/${PREVIEW}`,
    ],
    hour: 2,
    stem: PREVIEW,
    as: (moment, who) => {
      if (who === `Revision/${PREVIEW}-00002`) return staleIn(hours(18), moment);
      return who.startsWith('Cleaner/') ? { spec: { ttl: '4h' } } : {};
    },
  },
  // A user removes the route, and the other one is deleted too.
  {
    example: '08-cleaner-knative',
    who: ['Revision/sfj-9c1d--shop-00001'],
    hour: 12,
    days: [5],
    again: true,
    as: () => ({ metadata: { annotations: { 'serving.knative.dev/routes': null } } }),
  },

  // Installed again every day under the same name.
  {
    example: '09-cleaner-helm',
    who: [
      'ConfigMap/preview-7b',
      'Service/preview-7b',
      'PersistentVolumeClaim/preview-7b-data',
      'Secret/sh.helm.release.v1.preview-7b.v1',
      'Cleaner/preview-7b',
    ],
    hour: 7,
    as: (_, who) => (who.startsWith('Cleaner/') ? { spec: { ttl: '9h' } } : {}),
  },
];
