// Assembles families of controllers for a simulated cluster, as assemble.ts does for a real one: configuration with
// defaults, feature gates, the clock guard, budgets.

import type { JsonObject } from '@lapse/kube/api/json';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { Compose } from '@lapse/simulation/process';
import type { Family, Services } from '#controllers/family';
import { createBudget } from '#deletion/budget';
import { createSkewGuard } from '#deletion/skewGuard';
import { readGeneral } from '#manager/configuration/general';
import { computeGates } from '#manager/selection';
import { createTrash } from '#trash/createTrash';

export interface ComposeOptions {
  readonly families: readonly Family[];
  /** All available families, for the feature gates. Default: `families`. */
  readonly known?: readonly Family[];
  /** In addition to the families. */
  readonly controllers?: readonly ControllerDefinition[];
  /** The configuration, complete and valid. */
  readonly document: JsonObject;
  /** Set: objects are saved before they are deleted. A forecast does not need it. */
  readonly trash?: { readonly namespace: string };
}

export function composeFamilies(options: ComposeOptions): Compose {
  const { families, known = families, controllers = [], document } = options;
  const general = readGeneral(document);
  const states = computeGates(known, general.featureGates);
  return ({ clock, random, client, registry, log, skew, clientAs }) => {
    const guard = createSkewGuard({ clock, skew, raw: client.raw, registry, maxSkew: general.maxClockSkew });
    const { perSecond, perMinute, paranoidReread } = general.deletions;
    const trash = options.trash;
    const saving =
      trash &&
      createTrash(general.trash, { clock, log, guard, registry, client, namespace: trash.namespace });
    const services: Services = {
      clock,
      random,
      registry,
      log,
      guard,
      client,
      impersonate: ({ namespace, name }) =>
        clientAs({
          user: `system:serviceaccount:${namespace}:${name}`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
        }),
      ...(general.impersonateAuthor
        ? { impersonateAuthor: ({ username, groups = [] }) => clientAs({ user: username, groups }) }
        : {}),
      actAs: general.actAs,
      ...(general.namespace === undefined ? {} : { namespace: general.namespace }),
      isEnabled(gate) {
        const state = states.get(gate);
        if (state === undefined) throw new Error(`no selected family declares the feature gate ${gate}`);
        return state;
      },
      deletion: () => ({
        rereadFirst: paranoidReread,
        trash: saving?.trash,
        budget: createBudget({
          clock,
          ...(perSecond === undefined ? {} : { perSecond }),
          ...(perMinute === undefined ? {} : { perMinute }),
        }),
      }),
    };
    const parts = families.map((family) => {
      const sections = Object.keys(family.configuration).map((name) => [name, document[name]]);
      return family.create(services, Object.fromEntries(sections) as Record<string, JsonObject>);
    });
    return {
      controllers: [
        ...parts.flatMap((made) => made.controllers),
        ...(saving === undefined ? [] : [saving.controller]),
        ...controllers,
      ],
      admission: parts.flatMap(({ admission }) => admission),
      time: guard,
      dryRun: general.dryRun,
    };
  };
}
