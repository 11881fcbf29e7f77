// Registers the family `volume-capture`: its sections of the configuration and its controller.

import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { objectKeeperKind } from '#api/objectKeeper';
import { AnnotationKeyTTL } from '#api/storage/conditions';
import { VolumeCaptureRequest, volumeCaptureRequestKind } from '#api/volumeCaptureRequest';
import { AUTHORS, AUTHORS_SECTION, authorKeyRight, createAuthorSeal } from '#authors/authorConfiguration';
import { Expirer } from '#deletion/expirer';
import { deletionMetrics } from '#deletion/metrics';
import {
  authorKeySecret,
  CAPTURE_SECTION,
  DETACH_RETENTION_SECTION,
  parseRequestTtl,
  parseRetention,
  parseTimeout,
  REQUEST_ENVIRONMENT,
  REQUEST_TTL_SECTION,
  RETENTION_SECTION,
} from '#requests/configuration';
import { directReader } from '#requests/direct';
import type { Family } from '../family.ts';
import { detachAuthor, detachRules } from './admission.ts';
import { volumeCaptureController } from './controller.ts';
import { detachedVolumeController } from './detachedVolume.ts';
import { forecastCaptures } from './forecast.ts';
import { type CapturePolicy, parseVia } from './policy.ts';

const NAME = 'volume-capture';

const SNAPSHOT_SECTION: JsonObject = {
  type: 'object',
  description: 'Volumes that are captured as snapshots.',
  default: {},
  properties: {
    via: {
      type: 'string',
      enum: ['VolumeSnapshotContent', 'VolumeSnapshot'],
      default: 'VolumeSnapshotContent',
      description:
        'What a capture creates. VolumeSnapshot: for clusters whose policy forbids to create VolumeSnapshotContents; the deletion policy of the class then decides.',
    },
  },
};

const DETACH_SECTION: JsonObject = {
  type: 'object',
  description: 'Volumes that are captured by detaching them.',
  default: {},
  properties: {
    clearClaimRef: {
      type: 'boolean',
      default: false,
      description:
        'A detached volume may be bound again, by a claim with the namespace and name of the deleted one. Default: no claim binds it.',
    },
    retention: DETACH_RETENTION_SECTION,
  },
};

function parsePolicy(sections: Readonly<Record<string, JsonObject>>): CapturePolicy {
  const { capture = {}, detach = {}, snapshot, retention } = sections;
  const ofDetach = detach.retention as JsonObject | undefined;
  return {
    allowCrossNamespace: capture.allowCrossNamespace === true,
    via: parseVia(snapshot),
    timeout: parseTimeout('capture.timeout', capture.timeout),
    clearClaimRef: detach.clearClaimRef === true,
    retention: parseRetention('retention', retention, 'FollowObject'),
    detachRetention: parseRetention('detach.retention', ofDetach, 'FollowObjectWithTTL'),
  };
}

export const volumeCapture: Family = {
  name: NAME,
  description: 'Captures volumes, once per request, as snapshots or by detaching them.',
  defaultOn: false,
  kinds: [volumeCaptureRequestKind as CustomKind, objectKeeperKind as CustomKind],
  gates: [],
  configuration: {
    requestTTL: REQUEST_TTL_SECTION,
    retention: RETENTION_SECTION,
    capture: CAPTURE_SECTION,
    snapshot: SNAPSHOT_SECTION,
    detach: DETACH_SECTION,
    [AUTHORS]: AUTHORS_SECTION,
  },
  environment: REQUEST_ENVIRONMENT,
  flags: {
    'allow-cross-namespace-capture': {
      field: 'capture.allowCrossNamespace',
      description: 'a VolumeCaptureRequest may name a claim of another namespace',
    },
  },
  create(services, sections) {
    const { clock, guard, registry, random, namespace, client, actAs } = services;
    const policy = parsePolicy(sections);
    const secret = authorKeySecret(sections.capture);
    const authors =
      actAs === 'author'
        ? { client, seal: createAuthorSeal(services, secret, sections[AUTHORS]) }
        : undefined;
    const metrics = deletionMetrics(registry, NAME, () => clock.now());
    const controller = volumeCaptureController({
      rules: {
        kind: VolumeCaptureRequest,
        annotationKey: AnnotationKeyTTL,
        ttl: parseRequestTtl(sections.requestTTL),
      },
      policy,
      direct: directReader,
      expirer: new Expirer<unknown>({ clock, guard, metrics, ...services.deletion?.(NAME) }),
      guard,
      random,
      ...(authors === undefined ? {} : { authors }),
      ...(namespace === undefined ? {} : { namespace }),
    });
    const controllers = [controller, detachedVolumeController()] as ControllerDefinition[];
    if (authors === undefined) return { controllers, admission: [] };
    return {
      controllers,
      admission: [detachAuthor(authors), detachRules(authors, policy.allowCrossNamespace)],
      rights: [authorKeyRight(secret)],
    };
  },
  forecaster: forecastCaptures,
};
