// Every family of controllers there is, in the order in which people meet them.

import type { Family } from './family.ts';
import { storagePool } from './storage-pool/family.ts';
import { ttlAfterFinishedFamily } from './ttl-after-finished/family.ts';

export const FAMILIES: readonly Family[] = [ttlAfterFinishedFamily, storagePool];
