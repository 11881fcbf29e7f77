// The controller family `object-keeper`.

import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { objectKeeperKind } from '#api/objectKeeper';
import { Expirer } from '#deletion/expirer';
import { deletionMetrics } from '#deletion/metrics';
import type { Family } from '../family.ts';
import { objectKeeperController } from './controller.ts';
import { CrdReader } from './crdReader.ts';
import { forecastKeepers } from './forecast.ts';

const NAME = 'object-keeper';

const SECTION: JsonObject = {
  type: 'object',
  description: 'Keepers of objects.',
  default: {},
  properties: {
    follow: {
      type: 'array',
      default: [],
      items: { type: 'string' },
      description:
        'Resources beside our own that keepers may follow: configmaps, runs.example.com. Rights to read them are asked for.',
    },
  },
};

export const objectKeeper: Family = {
  name: NAME,
  description:
    'Deletes keepers, and with them what they own, when the object they follow is gone or their TTL has passed.',
  defaultOn: false,
  kinds: [objectKeeperKind as CustomKind],
  gates: [],
  configuration: { objectKeeper: SECTION },
  create(services, { objectKeeper: section = {} }) {
    const { clock, guard, registry, namespace } = services;
    const metrics = deletionMetrics(registry, NAME, () => clock.now());
    const controller = objectKeeperController({
      expirer: new Expirer<unknown>({ clock, guard, metrics, ...services.deletion?.(NAME) }),
      guard,
      crds: new CrdReader(),
      follow: Array.isArray(section.follow) ? section.follow.filter((name) => typeof name === 'string') : [],
      ...(namespace === undefined ? {} : { namespace }),
    });
    return { controllers: [controller as ControllerDefinition], admission: [] };
  },
  forecaster: forecastKeepers,
};
