// Puts families of controllers together for a simulation, as the commands do for a cluster: gates, configuration with its
// defaults, the guard of the clocks.

import type { JsonObject } from '#api/json';
import { readGeneral } from '#cmd/configuration/general';
import { compileConfiguration } from '#cmd/configuration/schema';
import { computeGates } from '#cmd/selection';
import type { Family, Services } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { createBudget } from '#lifecycle/budget';
import { createSkewGuard } from '#lifecycle/skewGuard';
import type { ControllerDefinition } from '#runtime/definition';
import type { Compose } from '#sim/process';

export interface Ensemble {
  readonly families: readonly Family[];
  /** Beside the families: controllers of a test. */
  readonly controllers: readonly ControllerDefinition[];
  /** As in the configuration file: sections of families, and general fields such as dryRun. */
  readonly configuration: JsonObject;
  readonly gates: Readonly<Record<string, boolean>>;
}

export function findFamily(name: string): Family {
  const family = FAMILIES.find((candidate) => candidate.name === name);
  if (family !== undefined) return family;
  throw new Error(`there is no family ${name}, there are: ${FAMILIES.map((known) => known.name).join(', ')}`);
}

function complete({ families, configuration, gates }: Ensemble): JsonObject {
  const schema = compileConfiguration(families);
  const given = { ...configuration, featureGates: { ...gates } };
  const { document, errors } = schema.complete(given);
  const problems = [...schema.check(given), ...errors].map(({ field, message }) => `${field}: ${message}`);
  if (problems.length > 0) throw new Error(`the configuration is wrong: ${problems.join('; ')}`);
  return document;
}

export function composeFamilies(ensemble: Ensemble): Compose {
  const document = complete(ensemble);
  const general = readGeneral(document);
  const states = computeGates(ensemble.families, general.featureGates);
  return ({ clock, random, client, registry, log, skew, clientAs }) => {
    const guard = createSkewGuard({ clock, skew, raw: client.raw, registry, maxSkew: general.maxClockSkew });
    const { perSecond, perMinute, paranoidReread } = general.deletions;
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
      actAs: general.actAs,
      ...(general.namespace === undefined ? {} : { namespace: general.namespace }),
      isEnabled(gate) {
        const state = states.get(gate);
        if (state === undefined) throw new Error(`no family of this scenario declares the gate ${gate}`);
        return state;
      },
      deletion: () => ({
        rereadFirst: paranoidReread,
        budget: createBudget({
          clock,
          ...(perSecond === undefined ? {} : { perSecond }),
          ...(perMinute === undefined ? {} : { perMinute }),
        }),
      }),
    };
    const parts = ensemble.families.map((family) => {
      const sections = Object.keys(family.configuration).map((name) => [name, document[name]]);
      return family.create(services, Object.fromEntries(sections) as Record<string, JsonObject>);
    });
    return {
      controllers: [...parts.flatMap(({ controllers }) => controllers), ...ensemble.controllers],
      admission: parts.flatMap(({ admission }) => admission),
      time: guard,
      dryRun: general.dryRun,
    };
  };
}
