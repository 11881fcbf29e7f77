// Runs a scenario: implements the helpers of words.ts on a simulation. The first helper that needs the cluster starts
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
import type { Given, Scene, Then, When } from './words.ts';

class Stage {
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
      `writes of the double run, somebody does not see that the work is done:\n${asked.join('\n')}`,
    );
  expect(reconciled, 'objects that were reconciled by the double run').toBe(objects);
}

function givenOn(stage: Stage): Given {
  return {
    controllers: (...named) =>
      stage.note(() => {
        for (const one of named)
          if (typeof one === 'string') stage.families.add(findFamily(one));
          else stage.controllers.push(one);
      }),
    configuration: (sections) =>
      stage.note(() => {
        stage.configuration = { ...stage.configuration, ...sections };
      }),
    gates: (gates) => stage.note(() => Object.assign(stage.gates, gates)),
    simulatedControllers: (...simulatedControllers) =>
      stage.note(() => {
        for (const one of simulatedControllers)
          stage.simulatedControllers.push(
            ...(typeof one === 'string' ? simulatedControllersNamed([one]) : [one]),
          );
      }),
    kinds: (...kinds) => stage.note(() => stage.kinds.push(...kinds)),
    seed: (seed) =>
      stage.note(() => {
        stage.seed = seed;
      }),
    object: async (manifests) => (await stage.simulation()).apply(manifests),
    noDoubleRun: (because) => {
      stage.noDoubleRun = because;
    },
  };
}

function whenOn(stage: Stage): When {
  /** A user acts, and the controllers react. Inside `justBefore` the reaction is not awaited. */
  let inside = 0;
  const acts = async <T>(act: (simulation: Simulation) => Promise<T>): Promise<T> => {
    const simulation = await stage.simulation();
    const result = await act(simulation);
    if (inside === 0) await simulation.settle();
    return result;
  };
  const timePasses = async (length: Millis) => (await stage.simulation()).timePasses(length);
  return {
    user: {
      apply: (manifests) => acts(({ userClient }) => userClient.apply(manifests)),
      create: (manifests) => acts(({ userClient }) => userClient.create(manifests)),
      patch: (ref, patch) => acts(({ userClient }) => userClient.patch(ref, patch)),
      status: (ref, status) => acts(({ userClient }) => userClient.status(ref, status)),
      delete: (ref, options) => acts(({ userClient }) => userClient.delete(ref, options)),
    },
    timePasses,
    until: async (predicate, limit) => (await stage.simulation()).until(predicate, limit),
    justBefore: (matcher, fn, options) =>
      stage.now.faults.justBefore(
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
    serverAnswers: (matcher, fault, options) => stage.now.faults.answer(matcher, fault, options),
    serverIsSlow: (delay) => stage.now.faults.slowServer(delay),
    processRestarts: async () => (await stage.simulation()).restart(),
    processCrashes: async ({ downFor = millis(0) } = {}) => {
      const simulation = await stage.simulation();
      simulation.crash();
      await simulation.timePasses(downFor);
      await simulation.restart();
    },
    leadershipIsLost: async () => (await stage.simulation()).setLeading(false),
    leadershipReturns: async () => (await stage.simulation()).setLeading(true),
    watchesBreak: (how) => acts(async ({ faults }) => faults.breakWatches(how)),
    cachesAreStale: () => stage.now.faults.holdEvents(),
    cachesCatchUp: () => acts(async ({ faults }) => faults.releaseEvents()),
    clockJumps: (by) => acts(async (simulation) => simulation.jumpProcess(by)),
    serverClockIs: (offset) => acts(async (simulation) => simulation.skewServer(offset)),
    faultsEnd: () => acts(async ({ faults }) => faults.heal()),
  };
}

function thenOn(stage: Stage): Then {
  const look = async (ref: string) => {
    const simulation = await stage.simulation();
    await simulation.settle();
    return simulation.get(ref);
  };
  const story = () => `\n${stage.now.timeline()}\n`;
  return {
    exists: async (ref) => {
      if ((await look(ref)) === undefined) expect.fail(`${ref} does not exist${story()}`);
    },
    isGone: async (ref) => {
      if ((await look(ref)) !== undefined) expect.fail(`${ref} exists${story()}`);
    },
    isTerminating: async (ref) => {
      if ((await look(ref))?.metadata.deletionTimestamp === undefined)
        expect.fail(`${ref} is not terminating${story()}`);
    },
    object: async (ref) => {
      const object = await look(ref);
      if (object === undefined) expect.fail(`${ref} does not exist${story()}`);
      return object as never;
    },
    events: async (ref) => {
      const simulation = await stage.simulation();
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
      return stage.now.requests.filter(matches);
    },
    writes: () => stage.now.writes(),
    timeline: () => {
      const text = stage.now.timeline();
      return { text, toEqual: (wanted) => expect(normalize(text)).toBe(normalize(wanted)) };
    },
  };
}

export async function play(story: (scene: Scene) => Promise<void>): Promise<void> {
  const stage = new Stage();
  const scene: Scene = {
    given: givenOn(stage),
    when: whenOn(stage),
    // biome-ignore lint/suspicious/noThenProperty: it is an object, not a function, and reads aloud
    then: thenOn(stage),
    simulation: () => stage.simulation(),
    now: () => stage.ready?.clock.now() ?? VIRTUAL_START,
  };
  try {
    await story(scene);
  } catch (error) {
    await stage.ready?.close();
    throw error;
  }
  await stage.end();
}
