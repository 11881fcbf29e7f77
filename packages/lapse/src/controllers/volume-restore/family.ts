// Registers the family `volume-restore`: its sections of the configuration and its controller.

import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { objectKeeperKind } from '#api/objectKeeper';
import { AnnotationKeyTTL } from '#api/storage/conditions';
import { VolumeRestoreRequest, volumeRestoreRequestKind } from '#api/volumeRestoreRequest';
import { Expirer } from '#deletion/expirer';
import { deletionMetrics } from '#deletion/metrics';
import {
  parseRequestTtl,
  parseTimeout,
  REQUEST_ENVIRONMENT,
  REQUEST_TTL_SECTION,
} from '#requests/configuration';
import { directReader } from '#requests/direct';
import type { Family } from '../family.ts';
import { volumeRestoreController } from './controller.ts';
import { forecastRestores } from './forecast.ts';
import type { RestorePolicy } from './policy.ts';

const NAME = 'volume-restore';
const REPORTERS = ['external-provisioner'];

const RESTORE_SECTION: JsonObject = {
  type: 'object',
  description: 'Volume restores.',
  default: {},
  properties: {
    allowCrossNamespace: {
      type: 'boolean',
      default: false,
      description: 'A request may name a target in another namespace.',
    },
    executor: {
      type: 'string',
      enum: ['Auto', 'Lapse', 'External'],
      default: 'Auto',
      description:
        'Lapse: restores with the CSI driver of the storage class. External: a provisioner that serves VolumeRestoreRequests does. Auto: External on clusters with Deckhouse, otherwise Lapse.',
    },
    timeout: {
      type: 'string',
      default: '5m',
      description: 'For executor Lapse: how long errors of the provisioner are retried; a Go duration.',
    },
    ownership: {
      type: 'string',
      enum: ['None', 'Keeper'],
      default: 'None',
      description:
        "None: a restored claim is its user's. Keeper: it ends with the request, ten minutes later.",
    },
    eventReporters: {
      type: 'array',
      default: REPORTERS,
      items: { type: 'string' },
      description:
        'Reporting controllers whose Warning Events fail a restore. Every user who may create Events can write them.',
    },
  },
};

const parseExecutor = (value: unknown): RestorePolicy['executor'] =>
  value === 'Lapse' || value === 'External' ? value : 'Auto';

function parsePolicy(restore: JsonObject = {}): RestorePolicy {
  const reporters = Array.isArray(restore.eventReporters) ? restore.eventReporters : REPORTERS;
  return {
    allowCrossNamespace: restore.allowCrossNamespace === true,
    executor: parseExecutor(restore.executor),
    timeout: parseTimeout('restore.timeout', restore.timeout),
    ownership: restore.ownership === 'Keeper' ? 'Keeper' : 'None',
    reporters: reporters.filter((name) => typeof name === 'string'),
  };
}

export const volumeRestore: Family = {
  name: NAME,
  description: 'Restores captured volumes as claims, or observes the provisioner that does.',
  defaultOn: false,
  kinds: [volumeRestoreRequestKind as CustomKind, objectKeeperKind as CustomKind],
  gates: [],
  configuration: { requestTTL: REQUEST_TTL_SECTION, restore: RESTORE_SECTION },
  environment: REQUEST_ENVIRONMENT,
  flags: {
    'allow-cross-namespace-restore': {
      field: 'restore.allowCrossNamespace',
      description: 'a VolumeRestoreRequest may name a target in another namespace',
    },
  },
  create(services, { requestTTL, restore }) {
    const { clock, guard, registry, random, namespace } = services;
    const metrics = deletionMetrics(registry, NAME, () => clock.now());
    const controller = volumeRestoreController({
      rules: {
        kind: VolumeRestoreRequest,
        annotationKey: AnnotationKeyTTL,
        ttl: parseRequestTtl(requestTTL),
      },
      policy: parsePolicy(restore),
      direct: directReader,
      expirer: new Expirer<unknown>({ clock, guard, metrics, ...services.deletion?.(NAME) }),
      guard,
      random,
      ...(namespace === undefined ? {} : { namespace }),
    });
    return { controllers: [controller as ControllerDefinition], admission: [] };
  },
  forecaster: forecastRestores,
};
