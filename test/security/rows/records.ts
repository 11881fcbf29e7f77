import type { Attack } from '../attack.ts';

export const records: readonly Attack[] = [];
