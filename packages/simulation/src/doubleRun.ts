// Reconciles every object once more. A controller that has done its work writes nothing. The result also shows whether
// all objects were reconciled, because otherwise the check proves nothing.

import type { Manager } from '@lapse/runtime/manager';
import type { SimulatedReconcile } from './narrator.ts';
import { isWrite } from './seen.ts';
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
  readonly passes: readonly SimulatedReconcile[];
  readonly requests: readonly RequestRecord[];
  readonly settle: () => Promise<void>;
}

export async function runAgain({ manager, passes, requests, settle }: Watched): Promise<DoubleRun> {
  await settle();
  const [passesBefore, requestsBefore] = [passes.length, requests.length];
  const wanted = keysOf(manager);
  manager.enqueueAll('double run');
  await settle();
  const looked = new Set(passes.slice(passesBefore).map(({ controller, key }) => `${controller} ${key}`));
  return {
    objects: wanted.length,
    reconciled: wanted.filter((key) => looked.has(key)).length,
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
