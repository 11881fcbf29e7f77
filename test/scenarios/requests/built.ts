// Request controllers built directly, without a process.

import { minutes } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { Client } from '@lapse/kube/client/client';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { Registry } from '@lapse/runtime/metrics/registry';
import { AnnotationKeyTTL } from 'lapse/api/storage/conditions';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import type { Services } from 'lapse/controllers/family';
import { FAMILIES } from 'lapse/controllers/registry';
import type { CaptureOptions } from 'lapse/controllers/volume-capture/policy';
import { Expirer } from 'lapse/deletion/expirer';
import { deletionMetrics } from 'lapse/deletion/metrics';
import { trustedTime } from 'lapse/deletion/skewGuard';
import { directReader } from 'lapse/requests/direct';

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
      via: 'VolumeSnapshotContent',
      timeout: minutes(5),
      clearClaimRef: false,
      retention: { mode: 'FollowObject' },
      detachRetention: { mode: 'FollowObjectWithTTL', ttl: '24h' },
    },
    direct: directReader,
    expirer: new Expirer<unknown>({ clock, guard: trustedTime(clock), metrics }),
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

/** The controllers of the request families in the default configuration, for inspection. */
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
