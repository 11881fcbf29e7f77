// Controllers of requests built by hand, without a process around them.

import { AnnotationKeyTTL } from '#api/kinds/storage/conditions';
import { VolumeCaptureRequest } from '#api/kinds/volumeCaptureRequest';
import { minutes } from '#base/instant';
import { silentLog } from '#base/log';
import { seededRandom } from '#base/random';
import { VirtualClock } from '#base/virtualClock';
import type { Client } from '#client/client';
import type { Services } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import type { CaptureOptions } from '#controllers/volume-capture/policy';
import { deletionMetrics } from '#lifecycle/deletionMetrics';
import { GuardedDeletes } from '#lifecycle/guardedDelete';
import { directReader } from '#lifecycle/requests/direct';
import { trustedTime } from '#lifecycle/skewGuard';
import type { ControllerDefinition } from '#runtime/definition';
import { Registry } from '#runtime/metrics/registry';

export function captureOptions(more: Partial<CaptureOptions> = {}): CaptureOptions {
  const clock = new VirtualClock();
  const metrics = deletionMetrics(new Registry(), 'volume-capture', () => clock.now());
  return {
    rules: {
      kind: VolumeCaptureRequest,
      annotationKey: AnnotationKeyTTL,
      ttl: { mode: 'scanner', text: '10m', length: minutes(10) },
    },
    policy: {
      allowCrossNamespace: false,
      clearClaimRef: false,
      retention: { mode: 'FollowObject' },
      detachRetention: { mode: 'FollowObjectWithTTL', ttl: '24h' },
    },
    direct: directReader,
    deletes: new GuardedDeletes({ clock, guard: trustedTime(clock), metrics }),
    guard: trustedTime(clock),
    random: seededRandom(1),
    ...more,
  };
}

const NAMES = new Set([
  'volume-capture',
  'volume-restore',
  'manifest-capture',
  'object-keeper',
  'request-ttl',
]);

/** The controllers of the families of requests, in the default configuration, to look at. */
export function servicesForRights(
  configuration: Record<string, Record<string, string>> = {},
): { name: string; controllers: readonly ControllerDefinition[] }[] {
  const clock = new VirtualClock();
  const services: Services = {
    clock,
    random: seededRandom(1),
    registry: new Registry(),
    log: silentLog,
    guard: trustedTime(clock),
    client: {} as Client,
    impersonate: () => ({}) as Client,
    actAs: 'controller',
    isEnabled: () => false,
  };
  return FAMILIES.filter(({ name }) => NAMES.has(name)).map((family) => ({
    name: family.name,
    controllers: family.create(services, configuration).controllers,
  }));
}
