// For the numbered rules of manifest captures.

import type { Simulation } from '@lapse/simulation/simulate';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { expect } from 'vitest';
import { readyOf } from '../requests/kit.ts';
import type { Scene } from '../scene.ts';
import { FAMILIES, manifests, manifestWorld, REF, target, type WorldOptions } from './kit.ts';

export const WHOLE: WorldOptions = { families: FAMILIES };

export const MISSING = [target('ConfigMap', 'none')];

export const creates = (simulation: Simulation): Record<string, number> => {
  const count: Record<string, number> = {};
  for (const { verb, resource, status } of simulation.writes())
    if (verb === 'create' && status === 201) count[resource] = (count[resource] ?? 0) + 1;
  return count;
};

export const ONE_EACH = { objectkeepers: 1, manifestcheckpoints: 1, manifestcheckpointcontentchunks: 1 };

export async function captured(
  { given, when, then }: Scene,
  world: WorldOptions = {},
): Promise<ManifestCaptureRequest> {
  await manifestWorld(given, world);
  await when.user.apply(manifests());
  expect(await readyOf(then, REF)).toBe('True Completed');
  return then.object<ManifestCaptureRequest>(REF);
}
