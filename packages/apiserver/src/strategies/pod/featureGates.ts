// Pod fields of feature gates that are disabled by default: the manager owns them, but they are not stored.

import type { JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { child, objects } from '../values.ts';

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];

function dropGated(spec: JsonObject): void {
  delete spec['schedulingGroup'];
  for (const volume of objects(spec, 'volumes'))
    for (const source of objects(child(volume, 'projected'), 'sources')) {
      delete source['clusterTrustBundle'];
      delete source['podCertificate'];
    }
  for (const container of CONTAINERS.flatMap((list) => objects(spec, list))) {
    const lifecycle = child(container, 'lifecycle');
    if (!lifecycle || lifecycle['stopSignal'] === undefined) continue;
    delete lifecycle['stopSignal'];
    if (!child(lifecycle, 'postStart') && !child(lifecycle, 'preStop')) delete container['lifecycle'];
  }
}

/** The strategy for a kind with a Pod spec at a path. */
export function withFeatureGates(strategy: Strategy, ...path: readonly string[]): Strategy {
  const drop = (object: KubeObject) => {
    let spec: JsonObject | undefined = asJson(object);
    for (const name of path) spec = child(spec, name);
    if (spec) dropGated(spec);
  };
  return {
    ...strategy,
    prepareForCreate(object, context) {
      drop(object);
      strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(next, old, context) {
      drop(next);
      strategy.prepareForUpdate?.(next, old, context);
    },
  };
}
