// What a capture of manifests stores, end to end.

import { minutes, seconds } from '@lapse/base/instant';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { expect } from 'vitest';
import { requestScenario } from '../requests/invariants.ts';
import { readyOf } from '../requests/kit.ts';
import { capturedObjects, checkpointOf, FAMILIES, manifests, manifestWorld, names, REF } from './kit.ts';

requestScenario(
  'objects are captured, and the checkpoint is deleted with the request',
  async ({ given, when, then, simulation }) => {
    await manifestWorld(given, { families: FAMILIES });
    await when.user.apply(manifests());
    expect(await readyOf(then, REF)).toBe('True Completed');
    const checkpoint = await checkpointOf(then);
    expect(names(await capturedObjects(await simulation(), checkpoint))).toEqual([
      'ConfigMap a',
      'ConfigMap b',
    ]);
    const { status, metadata } = await then.object<ManifestCaptureRequest>(REF);
    expect(status?.checkpointName).toMatch(/^mcp-[0-9a-f]{16}$/);
    expect(metadata.annotations).toEqual({ 'state-snapshotter.deckhouse.io/ttl': '10m' });
    await when.timePasses(minutes(10));
    await when.timePasses(seconds(1));
    await then.isGone(REF);
    await then.isGone(`mcp/${checkpoint.metadata.name}`);
    await then.isGone(`mcpchunk/${checkpoint.metadata.name}-0`);
  },
);
