// Runs the attack table on one API server.

import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Place } from '../kube/rbac/cluster.ts';
import { ATTACKS } from './attacks.ts';
import { type OpenAttackCluster, openAttackCluster } from './cluster.ts';

export interface AttackedServer extends Place {
  close(): Promise<void>;
}

export function describeAttacks(start: () => Promise<AttackedServer>): void {
  describe('attacks through an API server', () => {
    let server: AttackedServer;
    let cluster: OpenAttackCluster;
    beforeAll(async () => {
      server = await start();
      cluster = await openAttackCluster(server);
    });
    afterAll(async () => {
      await cluster?.close();
      await server?.close();
    });
    for (const attack of ATTACKS) if (attack.on === 'cluster') test(attack.name, () => attack.run(cluster));
  });
}
