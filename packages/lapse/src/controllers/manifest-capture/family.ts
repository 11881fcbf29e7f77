// Registers the family `manifest-capture`: its sections of the configuration, its controller and its admission
// functions.

import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { ManifestCaptureRequest, manifestCaptureRequestKind } from '#api/manifestCaptureRequest';
import { manifestCheckpointKind } from '#api/manifestCheckpoint';
import { manifestCheckpointContentChunkKind } from '#api/manifestCheckpointContentChunk';
import { objectKeeperKind } from '#api/objectKeeper';
import { AnnotationKeyManifestTTL } from '#api/stateSnapshotter/conditions';
import { AUTHORS, AUTHORS_SECTION, authorKeyRight, createAuthorSeal } from '#authors/authorConfiguration';
import { Expirer } from '#deletion/expirer';
import { deletionMetrics } from '#deletion/metrics';
import {
  authorKeySecret,
  CAPTURE_SECTION,
  parseRequestTtl,
  parseRetention,
  REQUEST_ENVIRONMENT,
  REQUEST_TTL_SECTION,
  RETENTION_SECTION,
} from '#requests/configuration';
import { directReader } from '#requests/direct';
import type { Family, Services } from '../family.ts';
import { captureAuthor, captureRules } from './admission.ts';
import { manifestCaptureController } from './controller.ts';
import { forecastManifestCaptures } from './forecast.ts';
import { captureMetrics } from './metrics.ts';
import type { Authorization, ManifestPolicy, SecretsMode } from './policy.ts';

const NAME = 'manifest-capture';

interface Section {
  readonly secrets?: SecretsMode;
  readonly profile?: ManifestPolicy['profile'];
  readonly authorization?: Authorization;
  readonly allowedKinds?: readonly string[];
}

function parsePolicy(
  section: Section,
  retention: JsonObject | undefined,
  actAs: Services['actAs'],
): ManifestPolicy {
  return {
    secrets: section.secrets ?? 'include',
    profile: section.profile ?? 'verbatim',
    authorization: section.authorization ?? (actAs === 'controller' ? 'Controller' : 'Webhook'),
    allowedKinds: section.allowedKinds ?? [],
    retention: parseRetention('retention', retention, 'FollowObject'),
  };
}

export const manifestCapture: Family = {
  name: NAME,
  description: 'Captures objects of a namespace, once per request, in a checkpoint.',
  defaultOn: false,
  kinds: [
    manifestCaptureRequestKind as CustomKind,
    manifestCheckpointKind as CustomKind,
    manifestCheckpointContentChunkKind as CustomKind,
    objectKeeperKind as CustomKind,
  ],
  gates: [],
  configuration: {
    requestTTL: REQUEST_TTL_SECTION,
    retention: RETENTION_SECTION,
    capture: CAPTURE_SECTION,
    [AUTHORS]: AUTHORS_SECTION,
  },
  environment: REQUEST_ENVIRONMENT,
  create(services, sections) {
    const { clock, guard, registry, random, namespace, actAs } = services;
    const section = (sections.capture ?? {}) as unknown as Section;
    const policy = parsePolicy(section, sections.retention, actAs);
    const secret = authorKeySecret(sections.capture);
    const seal = createAuthorSeal(services, secret, sections[AUTHORS]);
    const client = services.acting ?? services.client;
    const deletions = deletionMetrics(registry, NAME, () => clock.now());
    const controller = manifestCaptureController({
      rules: {
        kind: ManifestCaptureRequest,
        annotationKey: AnnotationKeyManifestTTL,
        ttl: parseRequestTtl(sections.requestTTL),
      },
      policy,
      direct: directReader,
      targets: client,
      seal,
      metrics: captureMetrics(registry),
      clock,
      expirer: new Expirer<unknown>({ clock, guard, metrics: deletions, ...services.deletion?.(NAME) }),
      guard,
      random,
      ...(namespace === undefined ? {} : { namespace }),
    });
    const admission = { client: services.client, policy, seal };
    const isReviewed = policy.authorization === 'Webhook';
    return {
      controllers: [controller as ControllerDefinition],
      admission: [...(isReviewed ? [captureAuthor(admission)] : []), captureRules(admission)],
      rights: isReviewed ? [authorKeyRight(secret)] : [],
    };
  },
  forecaster: forecastManifestCaptures,
};
