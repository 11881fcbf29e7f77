import type { Attack } from '../attack.ts';

export const storage: readonly Attack[] = [];
