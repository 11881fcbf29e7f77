// The attack table on the embedded server with RBAC. attacks.kube.ts runs it on a real API server.

import { dirname } from 'node:path';
import { httpsOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { test } from 'vitest';
import { startEmbeddedSocket } from '../conformance/embeddedSocket.ts';
import { ATTACKS } from './attacks.ts';
import { describeAttacks } from './describeAttacks.ts';

describeAttacks(async () => {
  const embedded = await startEmbeddedSocket({ outbound: httpsOutbound });
  const { url, ca, target, kubeconfig } = embedded;
  const directory = dirname(kubeconfig);
  return { url, ca, directory, adminToken: target.adminToken!, close: () => embedded.close() };
});

for (const attack of ATTACKS) if (attack.on === 'process') test(attack.name, () => attack.run());
