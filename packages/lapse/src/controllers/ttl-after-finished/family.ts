// The controller family: two feature gates, one configuration section, up to two controllers.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { Propagation } from '@lapse/kube/client/delete';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { JOB_TTL_FIELD, jobs } from '#expiry/job';
import { POD_TTL_ANNOTATION, pods } from '#expiry/pod';
import type { Family } from '../family.ts';
import { inTurn } from '../forecaster.ts';
import { booleanSetting, concurrencySetting } from '../settings.ts';
import { POD_POLICIES } from './admission.ts';
import { ttlAfterFinished } from './controller.ts';
import { type ForecastKind, forecastFinished } from './forecast.ts';

const SECTION = 'ttlAfterFinished';
const JOBS_GATE = 'TTLAfterFinished';
const PODS_GATE = 'TTLAfterFinishedPods';
const POD_PROPAGATION: Propagation = 'Background';

interface Section {
  readonly concurrency: number;
  readonly jobPropagation: Propagation;
  readonly jobDeletionEvents: boolean;
  readonly podDeletionEvents: boolean;
}

const SCHEMA: JsonObject = {
  type: 'object',
  default: {},
  properties: {
    concurrency: concurrencySetting(
      'Maximum number of concurrent reconciles, and thus of concurrent deletions; per kind.',
    ),
    jobPropagation: {
      type: 'string',
      enum: ['Foreground', 'Background', 'Orphan'],
      default: 'Foreground',
      description: 'What becomes of the Pods of a Job that is deleted.',
    },
    jobDeletionEvents: booleanSetting(
      false,
      'An Event Deleted for every Job, with finish time, TTL and lag.',
    ),
    podDeletionEvents: booleanSetting(true, 'An Event Deleted for every Pod, with finish time, TTL and lag.'),
  },
};

const forecastJobs: ForecastKind<Job> = {
  finishable: jobs,
  rule: JOB_TTL_FIELD,
  gate: JOBS_GATE,
  propagation: ({ jobPropagation }) => jobPropagation as Propagation,
};
const forecastPods: ForecastKind<Pod> = {
  finishable: pods,
  rule: POD_TTL_ANNOTATION,
  gate: PODS_GATE,
  propagation: () => POD_PROPAGATION,
};

export const ttlAfterFinishedFamily: Family = {
  name: 'ttl-after-finished',
  description: 'Deletes Jobs, and Pods that ask for it, some time after they finished.',
  defaultOn: true,
  saves: 'jobs',
  kinds: [],
  gates: [
    {
      name: JOBS_GATE,
      default: true,
      stage: 'stable',
      description: 'Jobs end by spec.ttlSecondsAfterFinished.',
    },
    {
      name: PODS_GATE,
      default: false,
      stage: 'alpha',
      description: 'Pods end by the annotation lapse.dev/ttl-seconds-after-finished.',
      policies: POD_POLICIES,
    },
  ],
  configuration: { [SECTION]: SCHEMA },
  flags: {
    'job-propagation': {
      field: `${SECTION}.jobPropagation`,
      description: 'what becomes of the Pods of a Job that is deleted: Foreground, Background, Orphan',
    },
    'deletion-events': {
      field: `${SECTION}.jobDeletionEvents`,
      description: 'an Event for every Job that is deleted',
    },
    'concurrent-ttl-after-finished-syncs': {
      field: `${SECTION}.concurrency`,
      description: 'deletions under way at once, for Jobs and for Pods',
    },
  },
  create(services, configuration) {
    const section = configuration[SECTION] as unknown as Section;
    const { concurrency, jobPropagation, jobDeletionEvents, podDeletionEvents } = section;
    const controllers: ControllerDefinition[] = [];
    if (services.isEnabled(JOBS_GATE)) {
      services.log.info(
        {},
        'deleting Jobs by their TTL; kube-controller-manager also does so unless its ttl-after-finished-controller is disabled',
      );
      const options = { propagation: jobPropagation, deletionEvents: jobDeletionEvents };
      controllers.push(
        ttlAfterFinished(jobs, { ...services, concurrency, ...options }) as ControllerDefinition,
      );
    }
    if (services.isEnabled(PODS_GATE)) {
      const options = { propagation: POD_PROPAGATION, deletionEvents: podDeletionEvents };
      controllers.push(
        ttlAfterFinished(pods, { ...services, concurrency, ...options }) as ControllerDefinition,
      );
    }
    return { controllers, admission: [], rights: services.trashRights ?? [] };
  },
  forecaster: {
    forecast(forecastContext) {
      const section = forecastContext.configuration[SECTION] ?? {};
      return inTurn([
        forecastFinished(forecastContext, forecastJobs, section),
        forecastFinished(forecastContext, forecastPods, section),
      ]);
    },
  },
};
