// The attack table on a real API server with RBAC. attacks.test.ts runs it on the embedded one.

import { readFileSync } from 'node:fs';
import { startBed } from '../kube/bed/bed.ts';
import { describeAttacks } from './describeAttacks.ts';

describeAttacks(async () => {
  const bed = await startBed();
  const { url, adminToken, directory } = bed;
  return { url, adminToken, directory, ca: readFileSync(bed.caFile, 'utf8'), close: () => bed.stop() };
});
