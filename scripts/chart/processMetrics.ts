// The names of all metrics there are, from a process with every family that is started and stopped without a cluster.

import { realClock } from '#base/clock';
import { silentLog } from '#base/log';
import { systemRandom } from '#base/random';
import { anonymous } from '#client/credentials';
import type { Transport } from '#client/transport';
import { assemble } from '#cmd/assemble';
import { readGeneral } from '#cmd/configuration/general';
import { loadConfiguration } from '#cmd/configuration/load';
import { FAMILIES } from '#controllers/registry';
import { webhookHandler } from '#runtime/host/webhook';

/** Every metric that a process registers when it has everything. */
export async function metricsOfProcess(): Promise<Set<string>> {
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {} });
  const transport = (async () => {
    throw new Error('no cluster');
  }) as unknown as Transport;
  const wires = { transport, leaseTransport: transport, credentials: anonymous, namespace: 'none' };
  const { manager, registry, families } = assemble({
    wires,
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: FAMILIES,
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    identity: 'nobody',
  });
  const functions = families.flatMap(({ admission }) => admission);
  webhookHandler({ functions, clock: realClock, log: silentLog, registry });
  manager.start();
  await manager.stop();
  return new Set([...registry.text().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
}
