// The attack table: every known way to misuse Lapse, one row each.

import type { Attack } from './attack.ts';
import { authors } from './rows/authors.ts';
import { helm } from './rows/helm.ts';
import { hosts } from './rows/hosts.ts';
import { inputs } from './rows/inputs.ts';
import { records } from './rows/records.ts';
import { storage } from './rows/storage.ts';

export const ATTACKS: readonly Attack[] = [...records, ...authors, ...helm, ...hosts, ...inputs, ...storage];
