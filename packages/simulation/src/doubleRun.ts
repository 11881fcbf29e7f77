// Reconciles every object once more. A controller that has done its work writes nothing. The result also shows whether
// all objects were reconciled, because otherwise the check proves nothing.

import type { Manager } from '@lapse/runtime/manager';
import { isWrite } from './requestInfo.ts';
import type { SimulatedReconcile } from './timelineWriter.ts';
import type { RequestRecord } from './wire.ts';

export interface DoubleRun {
  /** Number of objects of the controllers' own kinds, counted once per controller. */
  readonly objects: number;
  /** How many of them were reconciled. */
  readonly reconciled: number;
  readonly writes: readonly RequestRecord[];
}

export interface Watched {
  readonly manager: Manager;
  readonly reconciles: readonly SimulatedReconcile[];
  readonly requests: readonly RequestRecord[];
  readonly settle: () => Promise<void>;
}

export async function runAgain({ manager, reconciles, requests, settle }: Watched): Promise<DoubleRun> {
  await settle();
  const [reconcilesBefore, requestsBefore] = [reconciles.length, requests.length];
  const wanted = keysOf(manager);
  manager.enqueueAll('double run');
  await settle();
  const reconciled = new Set(
    reconciles.slice(reconcilesBefore).map(({ controller, key }) => `${controller} ${key}`),
  );
  return {
    objects: wanted.length,
    reconciled: wanted.filter((key) => reconciled.has(key)).length,
    writes: requests.slice(requestsBefore).filter(isWrite),
  };
}

function keysOf(manager: Manager): string[] {
  return manager.controllers.flatMap(({ handles, name, definition }) =>
    [...handles[0]!.reader.list()].map(({ metadata }) => {
      const home = definition.for.namespaced ? `${metadata.namespace}/` : '';
      return `${name} ${home}${metadata.name}`;
    }),
  );
}
