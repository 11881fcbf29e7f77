// Which libraries there are, and which of them make up the environments this house uses.

import type { Library } from './declarations.ts';
import { LISTS, REVERSE_LIST, SETS } from './lib/lists.ts';
import { MATH } from './lib/math.ts';
import { OPTIONALS } from './lib/optionals.ts';
import { KUBERNETES_REGEX, REGEX } from './lib/regex.ts';
import { BINDINGS, BLOCK, ENCODERS, TWO_VARIABLES, WELL_KNOWN_TYPES } from './lib/small.ts';
import { STANDARD } from './lib/standard.ts';
import { stringsLibrary } from './lib/strings.ts';

/** Everything the language and its extensions define, in their current form. */
export const ALL_LIBRARIES: readonly Library[] = [
  STANDARD,
  WELL_KNOWN_TYPES,
  OPTIONALS,
  stringsLibrary('current'),
  MATH,
  ENCODERS,
  LISTS,
  SETS,
  REGEX,
  TWO_VARIABLES,
  BINDINGS,
  BLOCK,
  REVERSE_LIST,
  KUBERNETES_REGEX,
];
