// Which strategy each built-in kind has. A kind that is not listed is stored: types are checked, values are not.

import { checkDns1123Subdomain } from '#api/names';
import type { Strategy } from '../resources/resource.ts';

/** By store table: `jobs.batch`, `pods`. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {};

const STORED: Strategy = { nameRule: checkDns1123Subdomain };

export const strategyFor = (storage: string): Strategy =>
  Object.hasOwn(STRATEGIES, storage) ? STRATEGIES[storage]! : STORED;
