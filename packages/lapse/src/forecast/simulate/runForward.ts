// Runs one simulation: loads a cluster, runs the real controllers and the simulated controllers of Kubernetes in it,
// and advances virtual time. Nothing outside of this process is changed.

import { type Instant, type Millis, millis, minus, plus } from '@lapse/base/instant';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import type { Family } from '#controllers/family';
import type { DeletedStatement } from '#controllers/forecaster';
import { readGeneral } from '#manager/configuration/general';
import { isOurs, kindsOf } from '#manager/crds';
import { UsageError } from '#manager/usage';
import { simulatedControllersNamed } from '#simulation/simulatedControllers';
import { collectForecasts, NOTHING_KNOWN } from '../forecast.ts';
import { createSnapshot, readingFrom } from '../snapshot.ts';
import { Attribution } from './attribution.ts';
import { composeFamilies } from './composeFamilies.ts';
import { DeletionLog, type SimulatedDeletion } from './deletionLog.ts';
import { loadObjects, refOf } from './loadObjects.ts';
import { describeObject } from './manifests.ts';

export interface RunOptions {
  readonly objects: readonly KubeObject[];
  /** The objects come from a cluster: those that cannot be loaded are skipped. */
  readonly isSnapshot: boolean;
  /** Applied over `objects`. */
  readonly changes: readonly KubeObject[];
  readonly families: readonly Family[];
  readonly known: readonly Family[];
  /** The configuration, complete and valid. */
  readonly document: JsonObject;
  readonly start: Instant;
  readonly length: Millis;
  readonly seed: number;
  /** Progress from 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

export interface RunResult {
  readonly deletions: readonly SimulatedDeletion[];
  readonly notes: readonly string[];
  /** Errors of changed policies, as messages. */
  readonly problems: readonly string[];
}

const STEPS = 50;

export async function runForward(options: RunOptions): Promise<RunResult> {
  const { families, known, document, start, length, seed, onProgress } = options;
  const attribution = new Attribution();
  const log = new DeletionLog(attribution);
  const notes: string[] = [];
  let predicted: Awaited<ReturnType<typeof forecast>> = new Map();
  const compose = composeFamilies({
    families: families.map((family) => attribution.around(family)),
    known,
    document: withoutExternalExecutor(document),
  });
  const simulation = await simulate({
    compose,
    kinds: kindsHere(options),
    simulatedControllers: simulatedControllersNamed(['*']),
    seed,
    start,
    prepare: async (world) => {
      notes.push(...(await prepare(world, options)));
      predicted = await forecast(world, options);
    },
    onRequest: (request) => attribution.request(request),
    onChange: (change) => log.change(change),
  });
  try {
    for (let step = 1; step <= STEPS; step++) {
      await simulation.timePasses(minus(share(start, length, step / STEPS), simulation.clock.now()));
      onProgress?.(step / STEPS);
    }
    const kinds = new Map(simulation.controllers.map(({ name, for: { kind } }) => [name, kind]));
    const deletions = log.explain(simulation.reconciles, {
      start,
      kindOf: (controller) => kinds.get(controller),
      predicted: (uid) => predicted.get(uid),
    });
    return { deletions, notes, problems: await findProblems(simulation, options.changes) };
  } finally {
    await simulation.close();
  }
}

/** No provisioner serves restore requests here, so Lapse does, also for clusters with Deckhouse. */
const withoutExternalExecutor = (document: JsonObject): JsonObject => ({
  ...document,
  restore: { ...(document['restore'] as JsonObject | undefined), executor: 'Lapse' },
});

const share = (start: Instant, length: Millis, part: number): Instant =>
  plus(start, millis(Math.round(length * part)));

/** CRDs of Lapse and of the snapshot stack, except where the input has a foreign CRD of that name. */
function kindsHere({ objects, families }: RunOptions): CustomKind[] {
  const foreign = new Set(
    objects
      .filter((object) => object.kind === 'CustomResourceDefinition' && !isOurs(object))
      .map(({ metadata }) => metadata.name),
  );
  return [...kindsOf(families), ...STOCK_SNAPSHOT_KINDS].filter(({ crd }) => !foreign.has(crd.metadata.name));
}

async function prepare(world: Simulation, options: RunOptions): Promise<string[]> {
  const { objects, isSnapshot, changes } = options;
  const given = new Set(kindsHere(options).map(({ crd }) => crd.metadata.name!));
  const notes = await loadObjects(world, { objects, given, isSnapshot });
  for (const change of changes)
    try {
      await world.userClient.apply(change);
    } catch (cause) {
      throw new UsageError(`--with: ${describeObject(change)}: ${(cause as Error).message}`);
    }
  return notes;
}

/**
 * The forecasts of the families at the start, used only for the wording. The deletions are those of the
 * controllers.
 */
async function forecast(
  world: Simulation,
  options: RunOptions,
): Promise<ReadonlyMap<string, DeletedStatement>> {
  const { families, known, document, start } = options;
  const served = await world.user.discovery.all();
  const setting = {
    snapshot: createSnapshot(served, readingFrom(world.user)),
    now: start,
    general: readGeneral(document),
    document,
    known,
    selected: families,
  };
  const deletions = new Map<string, DeletedStatement>();
  for await (const { statement } of collectForecasts(setting, families, NOTHING_KNOWN, () => {}))
    if (statement.kind === 'deleted' && (deletions.get(statement.object.uid)?.at ?? Infinity) > statement.at)
      deletions.set(statement.object.uid, statement);
  return deletions;
}

async function findProblems(simulation: Simulation, changes: readonly KubeObject[]): Promise<string[]> {
  const problems: string[] = [];
  for (const change of changes) {
    const object = await simulation.userClient.get(refOf(change)).catch(() => undefined);
    const { conditions } = isObject(object?.status) ? object.status : {};
    for (const condition of Array.isArray(conditions) ? conditions.filter(isObject) : [])
      if (condition.type === 'Ready' && condition.status === 'False')
        problems.push(
          `${describeObject(change)} is not ready: ${String(condition.reason)}: ${String(condition.message)}`,
        );
  }
  return problems;
}
