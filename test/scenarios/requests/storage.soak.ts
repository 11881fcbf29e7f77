// Captures on the simulated stock stack, with random faults of the driver, requests that are deleted at random times, and
// restarts of the process. By default 1,500 captures; LAPSE_ROUNDS=100 makes ten thousand. Guarantees: no
// snapshot is left in the storage system without a record, no request is Completed without its snapshot, and none fails
// whose snapshot was ready before the deadline.

import { hours, minutes, parseTime, plus, seconds } from '@lapse/base/instant';
import { type Random, seededRandom } from '@lapse/base/random';
import { VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { createOwnerGc } from '@lapse/simulation/controllers/ownerGc/controller';
import { type CsiCode, type CsiFault, type CsiMethod, SimulatedDriver } from '@lapse/simulation/csi/driver';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { csiStack } from '@lapse/simulation/csi/stack';
import type { Change } from '@lapse/simulation/history';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import type { RequestObject } from 'lapse/api/storage/request';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { expect, test } from 'vitest';
import { composeFamilies, findFamily } from '../compose.ts';
import { capture, claim, DRIVER, snapshotClass, storageClass } from './kit.ts';

const ROUNDS = Number(process.env['LAPSE_ROUNDS'] ?? 15);
const REQUESTS = 100;
const SEED = Number(process.env['LAPSE_SEED'] ?? 20_261_118);
/**
 * After these codes a call may still take effect, and csi-snapshotter asks again before it deletes. After others it forgets
 * the call, so a snapshot that an earlier call has taken would be left: a round has either lost responses or such codes.
 */
const UNCERTAIN: readonly CsiCode[] = ['Unavailable', 'DeadlineExceeded', 'Aborted'];
const FINAL: readonly CsiCode[] = ['Internal', 'InvalidArgument'];
const families = ['volume-capture', 'object-keeper', 'request-ttl'].map(findFamily);
const TIMEOUT = minutes(5);

const below = (random: Random, n: number): number => Math.floor(random.next() * n);
const pick = <T>(random: Random, all: readonly T[]): T => all[below(random, all.length)]!;

/** Every third call has a fault: an error, a lost response, a delay, or a snapshot that is not ready. */
function drawFault(random: Random, method: CsiMethod, isLossy: boolean): CsiFault | undefined {
  if (method === 'CreateVolume' || below(random, 3) > 0) return undefined;
  const error = { code: pick(random, isLossy ? UNCERTAIN : FINAL), message: 'drawn' };
  return pick<CsiFault>(random, [
    { method, error },
    { method, error, delay: seconds(below(random, 30)) },
    { method, notReadyFor: seconds(below(random, 400)) },
    ...(isLossy
      ? [
          { method, error, lost: true },
          { method, delay: seconds(below(random, 90)) },
        ]
      : []),
  ]);
}

/** The guarantees that every change must keep. */
class Observer {
  readonly problems: string[] = [];
  readonly #readyAt = new Map<string, number>();
  readonly #driver: SimulatedDriver;

  constructor(driver: SimulatedDriver) {
    this.#driver = driver;
  }

  see({ kind, name, at, after, before }: Change): void {
    if (kind === VolumeSnapshotContent.kind) {
      const content = after as VolumeSnapshotContent | undefined;
      if (content?.status?.readyToUse === true && !this.#readyAt.has(name)) this.#readyAt.set(name, at);
      return;
    }
    if (kind !== VolumeCaptureRequest.kind || after === undefined) return;
    const ready = (after as RequestObject).status?.conditions?.[0];
    if (ready === undefined || (before as RequestObject | undefined)?.status?.conditions !== undefined)
      return;
    const content = `snapshot-${after.metadata.uid}`;
    const wasReady = this.#readyAt.get(content);
    if (ready.status === 'True' && (wasReady === undefined || !this.#has(content)))
      this.problems.push(`${name} is Completed without a snapshot`);
    const deadline = plus(parseTime(after.metadata.creationTimestamp ?? ''), TIMEOUT);
    if (ready.reason === 'SnapshotCreationFailed' && wasReady !== undefined && wasReady < deadline)
      this.problems.push(`${name} failed although its snapshot was ready: ${ready.message}`);
  }

  #has(content: string): boolean {
    return this.#driver.snapshots.length > 0 && this.#readyAt.has(content);
  }
}

async function playRound(seed: number): Promise<readonly string[]> {
  const random = seededRandom(seed);
  let faulty = true;
  const driver = new SimulatedDriver(DRIVER, (method) =>
    faulty ? drawFault(random, method, seed % 2 === 0) : undefined,
  );
  const observer = new Observer(driver);
  const simulation = await simulate({
    compose: composeFamilies({
      families,
      controllers: [],
      configuration: { actAs: 'controller' },
      gates: {},
    }),
    kinds: [...new Set([...families.flatMap(({ kinds }) => kinds), ...STOCK_SNAPSHOT_KINDS])],
    simulatedControllers: [createOwnerGc(), ...csiStack({ driver })],
    seed,
    onChange: (change) => observer.see(change),
  });
  try {
    await simulation.apply([
      snapshotClass(),
      storageClass(),
      claim('data', { volumeName: undefined }, {}, 'Pending'),
    ]);
    await simulation.timePasses(seconds(5));
    await actRandomly(simulation, random);
    faulty = false;
    await simulation.timePasses(hours(2));
    const left = driver.snapshots.map((handle) => `the snapshot ${handle} is left in the storage system`);
    return [...observer.problems, ...left];
  } finally {
    await simulation.close();
  }
}

/** Ten minutes with new requests, deletions and two restarts. */
async function actRandomly(simulation: Simulation, random: Random): Promise<void> {
  for (let i = 0; i < REQUESTS; i++) {
    await simulation.userClient.create(capture(`r${i}`));
    await simulation.timePasses(seconds(below(random, 12)));
    if (below(random, 4) === 0)
      await simulation.userClient.delete(`vcr/r${below(random, i + 1)}`).catch(() => {});
    if (i % 40 === 39) {
      simulation.crash();
      await simulation.timePasses(seconds(below(random, 20)));
      await simulation.restart();
    }
  }
}

test(`${ROUNDS * REQUESTS} captures with random faults keep the guarantees (LAPSE_SEED=${SEED})`, async () => {
  for (let round = 0; round < ROUNDS; round++)
    expect(await playRound(SEED + round), `LAPSE_ROUNDS=1 LAPSE_SEED=${SEED + round}`).toEqual([]);
});
