// All metrics, from a process with every family that is started and stopped without a cluster.

import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { anonymous } from '@lapse/kube/client/credentials';
import type { Transport } from '@lapse/kube/client/transport';
import { webhookHandler } from '@lapse/runtime/host/webhook';
import { FAMILIES } from 'lapse/controllers/registry';
import { assemble } from 'lapse/manager/assemble';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';

export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** Every metric that a process with everything enabled registers. */
export async function metricsOfProcess(): Promise<Metric[]> {
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {} });
  const transport = (async () => {
    throw new Error('no cluster');
  }) as unknown as Transport;
  const connection = { transport, leaseTransport: transport, credentials: anonymous, namespace: 'none' };
  const { manager, registry, families } = assemble({
    connection,
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
  webhookHandler({ functions, clock: realClock, log: silentLog, registry, callers: { clientNames: [] } });
  manager.start();
  await manager.stop();
  const text = registry.text();
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm)]
    .map(([, name, help, type]) => ({ name: name!, help: help!, type: type! }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
