// `lapse/testing`: a controller in a simulated cluster, on a virtual clock. Thirty days take milliseconds.

import type { SimulationOptions } from '@lapse/simulation/options';
import type { Compose } from '@lapse/simulation/process';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import type { Services } from '#controllers/family';
import { createBudget } from '#deletion/budget';
import { createSkewGuard } from '#deletion/skewGuard';
import { familyOf, type ModuleExport } from '#manager/loadModules';
import { simulatedControllersNamed } from '#simulation/simulatedControllers';

export type { Simulation } from '@lapse/simulation/simulate';

export interface Rehearsal extends Pick<SimulationOptions, 'kinds' | 'seed' | 'start' | 'log'> {
  /** Simulated controllers to run, by name (`owner-gc`), or `*`. Default: none. */
  readonly simulatedControllers?: readonly string[];
}

/** `made` is what a module exports by default. End the simulation with `close()`. */
export function rehearse(
  made: ModuleExport,
  { simulatedControllers = [], ...options }: Rehearsal = {},
): Promise<Simulation> {
  return simulate({
    ...options,
    simulatedControllers: simulatedControllersNamed(simulatedControllers),
    compose: composeModule(made),
  });
}

function composeModule(made: ModuleExport): Compose {
  return ({ clock, random, client, registry, log, skew, clientAs }) => {
    const guard = createSkewGuard({ clock, skew, raw: client.raw, registry });
    const services: Services = {
      clock,
      random,
      client,
      registry,
      log,
      guard,
      impersonate: ({ namespace, name }) => clientAs({ user: `system:serviceaccount:${namespace}:${name}` }),
      actAs: 'controller',
      isEnabled: () => false,
      deletion: () => ({ budget: createBudget({ clock }) }),
    };
    return { ...familyOf('the module', 'module', made).create(services, {}), time: guard };
  };
}
