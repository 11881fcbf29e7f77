// Runs a scenario: implements the helpers of scene.ts on a simulation. The first helper that needs the cluster starts
// it. Until then `given` only collects settings.

import { type Millis, millis } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { KubeEvent } from '@lapse/runtime/events/build';
import { parseRef } from '@lapse/simulation/refs';
import { compileMatcher } from '@lapse/simulation/requestInfo';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { normalize } from '@lapse/simulation/timeline';
import type { Family } from 'lapse/controllers/family';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { composeFamilies, findFamily } from './compose.ts';
import type { Given, Scene, Then, When } from './scene.ts';

class SceneRunner {
  readonly families = new Set<Family>();
  readonly controllers: ControllerDefinition[] = [];
  readonly simulatedControllers: ControllerDefinition[] = [];
  readonly kinds: CustomKind[] = [];
  configuration: JsonObject = {};
  gates: Record<string, boolean> = {};
  seed = 1;
  noDoubleRun: string | undefined;
  started: Promise<Simulation> | undefined;
  /** Set as soon as `started` has resolved. */
  ready: Simulation | undefined;

  /** Settings must be given before the cluster starts. */
  note(what: () => void): void {
    if (this.started !== undefined)
      throw new Error('the cluster is running: controllers and settings come first');
    what();
  }

  simulation(): Promise<Simulation> {
    this.started ??= this.#begin();
    return this.started;
  }

  /** For helpers that are not awaited. */
  get now(): Simulation {
    if (this.ready === undefined) throw new Error('nothing is there yet: give an object, or let time pass');
    return this.ready;
  }

  async #begin(): Promise<Simulation> {
    const { families, controllers, configuration, gates, simulatedControllers, seed } = this;
    const kinds = new Set([...[...families].flatMap((family) => family.kinds), ...this.kinds]);
    const compose = composeFamilies({ families: [...families], controllers, configuration, gates });
    this.ready = await simulate({ compose, kinds: [...kinds], simulatedControllers, seed });
    return this.ready;
  }

  async end(): Promise<void> {
    const simulation = await this.simulation();
    try {
      if (this.noDoubleRun === undefined) await checkDoubleRun(simulation);
    } finally {
      await simulation.close();
    }
  }
}

/**
 * A process that is down, or not the leader, cannot be reconciled again. The scenario itself must check what it would
 * do.
 */
async function checkDoubleRun(simulation: Simulation): Promise<void> {
  simulation.faults.heal();
  await simulation.settle();
  if (!simulation.running) return;
  await simulation.setLeading(true);
  const { objects, reconciled, writes } = await simulation.doubleRun();
  const asked = writes.map(({ method, path }) => `${method} ${path}`);
  if (asked.length > 0)
    expect.fail(
      `the second run writes, so a controller does not see that its work is done:\n${asked.join('\n')}`,
    );
  expect(reconciled, 'objects that were reconciled by the double run').toBe(objects);
}

function givenOn(runner: SceneRunner): Given {
  return {
    controllers: (...named) =>
      runner.note(() => {
        for (const one of named)
          if (typeof one === 'string') runner.families.add(findFamily(one));
          else runner.controllers.push(one);
      }),
    configuration: (sections) =>
      runner.note(() => {
        runner.configuration = { ...runner.configuration, ...sections };
      }),
    gates: (gates) => runner.note(() => Object.assign(runner.gates, gates)),
    simulatedControllers: (...simulatedControllers) =>
      runner.note(() => {
        const named = simulatedControllers.filter((one) => typeof one === 'string');
        const given = simulatedControllers.filter((one) => typeof one !== 'string');
        runner.simulatedControllers.push(...simulatedControllersNamed(named), ...given);
      }),
    kinds: (...kinds) => runner.note(() => runner.kinds.push(...kinds)),
    seed: (seed) =>
      runner.note(() => {
        runner.seed = seed;
      }),
    object: async (manifests) => (await runner.simulation()).apply(manifests),
    noDoubleRun: (because) => {
      runner.noDoubleRun = because;
    },
  };
}

function whenOn(runner: SceneRunner): When {
  /** A user acts, and the controllers react. Inside `justBefore` the reaction is not awaited. */
  let inside = 0;
  const acts = async <T>(act: (simulation: Simulation) => Promise<T>): Promise<T> => {
    const simulation = await runner.simulation();
    const result = await act(simulation);
    if (inside === 0) await simulation.settle();
    return result;
  };
  const timePasses = async (length: Millis) => (await runner.simulation()).timePasses(length);
  return {
    user: {
      apply: (manifests) => acts(({ userClient }) => userClient.apply(manifests)),
      create: (manifests) => acts(({ userClient }) => userClient.create(manifests)),
      patch: (ref, patch) => acts(({ userClient }) => userClient.patch(ref, patch)),
      status: (ref, status) => acts(({ userClient }) => userClient.status(ref, status)),
      delete: (ref, options) => acts(({ userClient }) => userClient.delete(ref, options)),
    },
    timePasses,
    until: async (predicate, limit) => (await runner.simulation()).until(predicate, limit),
    justBefore: (matcher, fn, options) =>
      runner.now.faults.justBefore(
        matcher,
        async (request) => {
          inside++;
          try {
            await fn(request);
          } finally {
            inside--;
          }
        },
        options,
      ),
    serverAnswers: (matcher, fault, options) => runner.now.faults.answer(matcher, fault, options),
    serverIsSlow: (delay) => runner.now.faults.slowServer(delay),
    processRestarts: async () => (await runner.simulation()).restart(),
    processCrashes: async ({ downFor = millis(0) } = {}) => {
      const simulation = await runner.simulation();
      simulation.crash();
      await simulation.timePasses(downFor);
      await simulation.restart();
    },
    leadershipIsLost: async () => (await runner.simulation()).setLeading(false),
    leadershipReturns: async () => (await runner.simulation()).setLeading(true),
    watchesBreak: (how) => acts(async ({ faults }) => faults.breakWatches(how)),
    cachesAreStale: () => runner.now.faults.holdEvents(),
    cachesCatchUp: () => acts(async ({ faults }) => faults.releaseEvents()),
    clockJumps: (by) => acts(async (simulation) => simulation.jumpProcess(by)),
    serverClockIs: (offset) => acts(async (simulation) => simulation.skewServer(offset)),
    faultsEnd: () => acts(async ({ faults }) => faults.heal()),
  };
}

function thenOn(runner: SceneRunner): Then {
  const look = async (ref: string) => {
    const simulation = await runner.simulation();
    await simulation.settle();
    return simulation.get(ref);
  };
  const scenario = () => `\n${runner.now.timeline()}\n`;
  return {
    exists: async (ref) => {
      if ((await look(ref)) === undefined) expect.fail(`${ref} does not exist${scenario()}`);
    },
    isGone: async (ref) => {
      if ((await look(ref)) !== undefined) expect.fail(`${ref} exists${scenario()}`);
    },
    isTerminating: async (ref) => {
      if ((await look(ref))?.metadata.deletionTimestamp === undefined)
        expect.fail(`${ref} is not terminating${scenario()}`);
    },
    object: async (ref) => {
      const object = await look(ref);
      if (object === undefined) expect.fail(`${ref} does not exist${scenario()}`);
      return object as never;
    },
    events: async (ref) => {
      const simulation = await runner.simulation();
      await simulation.settle();
      const { items } = await simulation.user.list(KubeEvent);
      const { kind, name, namespace } = parseRef(ref);
      return items
        .filter(
          ({ regarding }) =>
            regarding.name === name &&
            regarding.kind.toLowerCase() === kind.toLowerCase() &&
            (namespace === undefined || regarding.namespace === namespace),
        )
        .sort((a, b) => (a.eventTime < b.eventTime ? -1 : 1));
    },
    requests: (matcher) => {
      const matches = matcher === undefined ? () => true : compileMatcher(matcher);
      return runner.now.requests.filter(matches);
    },
    writes: () => runner.now.writes(),
    timeline: () => {
      const text = runner.now.timeline();
      return { text, toEqual: (wanted) => expect(normalize(text)).toBe(normalize(wanted)) };
    },
  };
}

export async function runScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const runner = new SceneRunner();
  const scene: Scene = {
    given: givenOn(runner),
    when: whenOn(runner),
    // biome-ignore lint/suspicious/noThenProperty: the scenario reads as given, when, then
    then: thenOn(runner),
    simulation: () => runner.simulation(),
    now: () => runner.ready?.clock.now() ?? VIRTUAL_START,
  };
  try {
    await body(scene);
  } catch (error) {
    await runner.ready?.close();
    throw error;
  }
  await runner.end();
}
