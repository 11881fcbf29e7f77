// All families of controllers, in the order of the documentation.

import { cleanerFamily } from './cleaner/family.ts';
import type { Family } from './family.ts';
import { manifestCapture } from './manifest-capture/family.ts';
import { objectKeeper } from './object-keeper/family.ts';
import { requestTtl } from './request-ttl/family.ts';
import { storagePool } from './storage-pool/family.ts';
import { ttlAfterFinishedFamily } from './ttl-after-finished/family.ts';
import { ttlPolicyFamily } from './ttl-policy/family.ts';
import { volumeCapture } from './volume-capture/family.ts';
import { volumeRestore } from './volume-restore/family.ts';

export const FAMILIES: readonly Family[] = [
  ttlAfterFinishedFamily,
  ttlPolicyFamily,
  cleanerFamily,
  storagePool,
  volumeCapture,
  volumeRestore,
  manifestCapture,
  objectKeeper,
  requestTtl,
];
