// Composes controller families for a scenario: by name, with a configuration as in the configuration file.

import type { JsonObject } from '@lapse/kube/api/json';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { Compose } from '@lapse/simulation/process';
import type { Family } from 'lapse/controllers/family';
import { FAMILIES } from 'lapse/controllers/registry';
import { composeFamilies as compose } from 'lapse/forecast/simulate/composeFamilies';
import { compileConfiguration } from 'lapse/manager/configuration/schema';

export interface ComposeOptions {
  readonly families: readonly Family[];
  /** Controllers of the test, in addition to the families. */
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

function complete({ families, configuration, gates }: ComposeOptions): JsonObject {
  const schema = compileConfiguration(families);
  const given = { ...configuration, featureGates: { ...gates } };
  const { document, errors } = schema.complete(given);
  const problems = [...schema.check(given), ...errors].map(({ field, message }) => `${field}: ${message}`);
  if (problems.length > 0) throw new Error(`the configuration is wrong: ${problems.join('; ')}`);
  return document;
}

export function composeFamilies(options: ComposeOptions): Compose {
  const { families, controllers } = options;
  // Saving is tested where a scenario configures it.
  const saves = options.configuration.trash !== undefined;
  const trash = saves ? { trash: { namespace: 'default' } } : {};
  return compose({ families, controllers, document: complete(options), ...trash });
}
