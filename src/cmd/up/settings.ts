// What `lapse up` runs with, as a configuration file: `lapse plan --config` and the like would speak of what `lapse run`
// does by default, which acts with the rights of authors and leaves families and gates off that are on here.

import type { JsonObject } from '#api/json';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { CONFIGURATION } from '../configuration/schema.ts';
import { yamlText } from '../yaml.ts';

/** `document` without what modules bring: nobody else knows of it. */
export function renderSettings(document: JsonObject, selected: readonly Pick<Family, 'name'>[]): string {
  const known = new Set(FAMILIES.map(({ name }) => name));
  const controllers = selected.map(({ name }) => name).filter((name) => known.has(name));
  return `# Written by lapse up at every start: lapse plan, explain, simulate and doctor take it with --config.\n${yamlText(
    { ...CONFIGURATION, ...document, controllers },
  )}`;
}
