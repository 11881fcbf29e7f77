// The controller family `request-ttl`: one controller per kind of request, in scanner mode. In annotation mode, the
// controllers of the requests delete them, and this family has no controllers.

import type { Kind } from '@lapse/kube/api/kind';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { manifestCaptureRequestKind } from '#api/manifestCaptureRequest';
import { AnnotationKeyManifestTTL } from '#api/stateSnapshotter/conditions';
import { AnnotationKeyTTL } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';
import { volumeCaptureRequestKind } from '#api/volumeCaptureRequest';
import { volumeRestoreRequestKind } from '#api/volumeRestoreRequest';
import { Expirer } from '#deletion/expirer';
import { deletionMetrics } from '#deletion/metrics';
import { parseRequestTtl, REQUEST_ENVIRONMENT, REQUEST_TTL_SECTION } from '#requests/configuration';
import type { RequestTtl } from '#requests/rules';
import type { Family, Services } from '../family.ts';
import { requestTtlController, requestTtlName } from './controller.ts';
import { forecastRequestTtl } from './forecast.ts';

/** All kinds of requests, with the annotation that contains the TTL. */
const REQUESTS: readonly { readonly custom: CustomKind; readonly annotationKey: string }[] = [
  { custom: volumeCaptureRequestKind as CustomKind, annotationKey: AnnotationKeyTTL },
  { custom: volumeRestoreRequestKind as CustomKind, annotationKey: AnnotationKeyTTL },
  { custom: manifestCaptureRequestKind as CustomKind, annotationKey: AnnotationKeyManifestTTL },
];

function controllerOf(
  services: Services,
  ttl: RequestTtl,
  request: (typeof REQUESTS)[number],
): ControllerDefinition {
  const { clock, guard, registry, namespace } = services;
  const { kind } = request.custom;
  const name = requestTtlName(kind.resource);
  const metrics = deletionMetrics(registry, name, () => clock.now());
  // A read before the DELETE needs the permission to get, which this controller does not have.
  const { rereadFirst: _, ...deletionOptions } = services.deletion?.(name) ?? {};
  return requestTtlController<RequestObject>({
    rules: { kind, annotationKey: request.annotationKey, ttl },
    expirer: new Expirer<unknown>({ clock, guard, metrics, onConflict: 'leave', ...deletionOptions }),
    ...(namespace === undefined ? {} : { namespace }),
  }) as ControllerDefinition;
}

export const requestTtl: Family = {
  name: 'request-ttl',
  description: 'Deletes requests of volumes and manifests that have ended, when their TTL is over.',
  defaultOn: false,
  kinds: REQUESTS.map(({ custom }) => custom),
  gates: [],
  configuration: { requestTTL: REQUEST_TTL_SECTION },
  environment: REQUEST_ENVIRONMENT,
  create(services, { requestTTL }) {
    const ttl = parseRequestTtl(requestTTL);
    const controllers =
      ttl.mode === 'scanner' ? REQUESTS.map((request) => controllerOf(services, ttl, request)) : [];
    return { controllers, admission: [] };
  },
  forecaster: forecastRequestTtl(
    REQUESTS.map(({ custom, annotationKey }) => ({
      kind: custom.kind as Kind<RequestObject>,
      annotationKey,
    })),
  ),
};
