// For tests with real processes: `leader.testkit.ts URL CA-FILE TOKEN IDENTITY` runs a controller that deletes ConfigMaps
// labelled `burst=yes`, with leader election, like `lapse run`. It prints `leading` and `standby` to standard output.

import { readFileSync } from 'node:fs';
import { realClock } from '@lapse/base/clock';
import { instant, millis } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { createSkew } from '@lapse/kube/client/skew';
import { undiciTransport } from '@lapse/kube/client/undici';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { LeaseElector } from '@lapse/runtime/election/elector';
import { leaderOnly } from '@lapse/runtime/election/leaderOnly';
import { SOCKET_LIVENESS } from '@lapse/runtime/liveness';
import { Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { settled } from '@lapse/runtime/outcome';
import { ConfigMap } from '@lapse/runtime/world.testkit';
import { outcomeOf } from './deletion.ts';
import { GuardedDeletes } from './guardedDelete.ts';
import { deletionMetrics } from './metrics.ts';
import { createSkewGuard } from './skewGuard.ts';

const [url = '', caFile = '', token = '', identity = ''] = process.argv.slice(2);
const clock = realClock;
const random = systemRandom;
const registry = new Registry();
const common = {
  clock,
  random,
  credentials: fixedCredentials({ headers: bearer(token) }),
  userAgent: identity,
};
const wire = () => undiciTransport({ server: url, clock, tls: { ca: readFileSync(caFile, 'utf8') } });
const elector = new LeaseElector({
  client: createClient({ ...common, transport: wire(), flow: 'none' }),
  clock,
  random,
  log: silentLog,
  registry,
  identity,
  lease: { namespace: 'default', name: 'lapse-test' },
});
const skew = createSkew(clock);
const client = createClient({ ...common, transport: leaderOnly(wire(), elector), observe: skew.observe });
const guard = createSkewGuard({ clock, skew, raw: client.raw, registry });
const deletes = new GuardedDeletes({
  clock,
  guard,
  metrics: deletionMetrics(registry, 'burst', () => clock.now()),
});

const burst = defineController<ConfigMap>({
  name: 'burst',
  for: ConfigMap,
  namespace: 'default',
  labelSelector: 'burst=yes',
  concurrency: 4,
  async reconcile(ctx) {
    const object = ctx.cache.get(ConfigMap, ctx.key);
    if (object === undefined) return settled();
    const since = instant(0);
    const deletion = await deletes.delete(ctx, {
      kind: ConfigMap,
      object,
      since,
      decide: () => ({ kind: 'delete', since }),
    });
    return outcomeOf(deletion, () => settled());
  },
});

const print = (word: string) => process.stdout.write(`${word}\n`);
const manager = new Manager({
  clock,
  random,
  client,
  registry,
  time: guard,
  liveness: SOCKET_LIVENESS,
  controllers: [burst as ControllerDefinition],
  elector: {
    start: (on) =>
      elector.start({
        gained: () => {
          print('leading');
          on.gained();
        },
        lost: () => {
          print('standby');
          on.lost();
        },
      }),
    stop: () => elector.stop(),
  },
  drain: millis(10_000),
});
process.once('SIGTERM', () => {
  void manager.stop().then((drained) => {
    print(drained ? 'drained' : 'cut off');
    process.exit(0);
  });
});
manager.start();
print('started');
