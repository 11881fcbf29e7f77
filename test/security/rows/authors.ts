import type { Attack } from '../attack.ts';

export const authors: readonly Attack[] = [];
