import type { Attack } from '../attack.ts';

export const hosts: readonly Attack[] = [];
