import type { Attack } from '../attack.ts';

export const inputs: readonly Attack[] = [];
