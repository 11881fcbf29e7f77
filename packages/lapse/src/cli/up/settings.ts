// What `lapse up` runs with, as a configuration file that it records in its cluster. Without it `lapse plan` and the like
// would forecast what `lapse run` does by default: act with the rights of authors, with families and gates off that are on
// here.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { CONFIGURATION } from '#manager/configuration/schema';
import { yamlText } from '../yaml.ts';

/** `document` without what modules bring: nobody else knows of it. */
export function renderSettings(document: JsonObject, selected: readonly Pick<Family, 'name'>[]): string {
  const known = new Set(FAMILIES.map(({ name }) => name));
  const controllers = selected.map(({ name }) => name).filter((name) => known.has(name));
  return `# Written by lapse up at every start, for lapse plan, explain, simulate and doctor.\n${yamlText({
    ...CONFIGURATION,
    ...document,
    controllers,
  })}`;
}
