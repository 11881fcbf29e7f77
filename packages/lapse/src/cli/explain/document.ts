// An explanation as a structured document: the same shape as in memory, with times as RFC 3339.

import { instant } from '@lapse/base/instant';
import type { Explanation } from '#forecast/explain/explanation';
import { timeText } from '../times.ts';
import { yamlText } from '../yaml.ts';

const TIMES: ReadonlySet<string> = new Set(['now', 'at', 'since']);

/** Exactly the fields with these names are instants. */
const written = (explanation: Explanation): unknown =>
  JSON.parse(
    JSON.stringify(explanation, (key, value: unknown) =>
      TIMES.has(key) && typeof value === 'number' ? timeText(instant(value)) : value,
    ),
  );

export const explanationJson = (explanation: Explanation): string =>
  `${JSON.stringify(written(explanation), null, 2)}\n`;
export const explanationYaml = (explanation: Explanation): string => yamlText(written(explanation));
