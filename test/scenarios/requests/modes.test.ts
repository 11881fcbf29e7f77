// Two modes decide when a request expires, with the same policy: the same cluster, the same deletions. The controller
// deletes each to the second; by annotation it is at most 34 seconds later.

import { minus, minutes, parseTime, plus, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect, test } from 'vitest';
import { runScene } from '../sceneRunner.ts';
import { checkHistory } from './invariants.ts';
import { capture, content, restore, usualObjects, volumeWorld } from './kit.ts';

type Lateness = Map<string, number>;

/** Requests are created over ten minutes, valid and invalid. Returns how long after its deadline each was deleted. */
async function history(mode: 'scanner' | 'annotation'): Promise<Lateness> {
  const late: Lateness = new Map();
  await runScene(async ({ given, when, simulation }) => {
    const random = seededRandom(5);
    await volumeWorld(given, {
      families: ['volume-capture', 'volume-restore', 'request-ttl'],
      simulatedControllers: ['csi-snapshotter', 'deckhouse-provisioner'],
      configuration: { requestTTL: { mode } },
      objects: [...usualObjects(), content()],
    });
    for (let i = 0; i < 12; i++) {
      await when.timePasses(seconds(Math.floor(random.next() * 50)));
      await when.user.apply([
        capture(`c${i}`, i % 3 === 0 ? { persistentVolumeClaimRef: { name: 'none' } } : {}),
        restore(
          `r${i}`,
          i % 4 === 0 ? { sourceRef: { kind: 'PersistentVolume', name: 'no' } } : { targetPVCName: `t${i}` },
        ),
      ]);
    }
    await when.timePasses(minutes(12));
    const { changes } = await simulation();
    for (const { kind, name, before, after, serverAt } of changes) {
      if (after !== undefined || !/Request$/.test(kind)) continue;
      const completed = parseTime((before as RequestObject).status!.completionTimestamp!);
      late.set(`${kind} ${name}`, minus(serverAt, plus(completed, minutes(10))));
    }
    checkHistory(await simulation());
  });
  return late;
}

test('the same requests are deleted in both modes, to the second in one and within 34 seconds in the other', async () => {
  const scanned = await history('scanner');
  const annotated = await history('annotation');
  expect([...annotated.keys()].sort()).toEqual([...scanned.keys()].sort());
  expect(scanned.size).toBe(24);
  expect(new Set(scanned.values())).toEqual(new Set([0]));
  for (const lateness of annotated.values()) {
    expect(lateness).toBeGreaterThanOrEqual(0);
    expect(lateness).toBeLessThanOrEqual(34_000);
  }
  expect(Math.max(...annotated.values())).toBeGreaterThan(0);
});
