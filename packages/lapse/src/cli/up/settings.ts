// Records the configuration of `lapse up` in its cluster. Without it `lapse plan` and the other read-only commands
// would forecast the defaults of `lapse run`: rights of authors, and families and feature gates disabled that are
// enabled here.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { CONFIGURATION } from '#manager/configuration/schema';
import { yamlText } from '../yaml.ts';

/** `document` without the sections of modules, which other commands do not know. */
export function renderSettings(document: JsonObject, selected: readonly Pick<Family, 'name'>[]): string {
  const known = new Set(FAMILIES.map(({ name }) => name));
  const controllers = selected.map(({ name }) => name).filter((name) => known.has(name));
  return `# Written by lapse up at every start, for lapse plan, explain, simulate and doctor.\n${yamlText({
    ...CONFIGURATION,
    ...document,
    controllers,
  })}`;
}
