// A real server for the tests of one file, from before the first until after the last.

import { afterAll, beforeAll } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { bedTarget } from './replay/targets.ts';

export interface RealServer {
  readonly bed: Bed;
  readonly target: ReturnType<typeof bedTarget>;
}

/** Call it at the top of the file. The returned server is available while tests run. */
export function useRealServer(): RealServer {
  let bed: Bed | undefined;
  let target: ReturnType<typeof bedTarget> | undefined;
  beforeAll(async () => {
    bed = await startBed();
    target = bedTarget(bed);
  });
  afterAll(async () => {
    await target?.close();
    await bed?.stop();
  });
  return {
    get bed() {
      return bed!;
    },
    get target() {
      return target!;
    },
  };
}
