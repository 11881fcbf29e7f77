// Where the namespace of the agents comes from (flag, file, environment, default), and what the family contains.

import { realClock } from '@lapse/base/clock';
import { type Log, silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { Registry } from '@lapse/runtime/metrics/registry';
import { describe, expect, test } from 'vitest';
import { trustedTime } from '#deletion/skewGuard';
import { loadConfiguration } from '#manager/configuration/load';
import { FAMILIES } from '../registry.ts';
import { storagePool } from './family.ts';

const FILE =
  'apiVersion: lapse.dev/v1alpha1\nkind: LapseConfiguration\nstoragePool: {agentNamespace: from-file}\n';
const load = (flags: Record<string, string>, environment: Record<string, string>, text?: string) =>
  loadConfiguration([storagePool], {
    flags,
    environment,
    ...(text === undefined ? {} : { file: { name: 'lapse.yaml', text } }),
  }).storagePool;

describe('the namespace of the agents', () => {
  test.each([
    ['is the namespace of Lapse by default', {}, {}, undefined, 'lapse-system'],
    [
      'is the namespace in which the process runs',
      {},
      { POD_NAMESPACE: 'from-environment' },
      undefined,
      'from-environment',
    ],
    [
      'is the value of the file rather than of the environment',
      {},
      { POD_NAMESPACE: 'from-environment' },
      FILE,
      'from-file',
    ],
    [
      'is the value of the flag rather than of the file',
      { 'agent-namespace': 'from-flag' },
      {},
      FILE,
      'from-flag',
    ],
  ])('%s', (_rule, flags, environment, text, agentNamespace) => {
    expect(load(flags, environment, text)).toEqual({ agentNamespace });
  });
  test.each(['', 'Capitals', 'a/b'])('rejects %j as a namespace', (name) => {
    expect(() => load({ 'agent-namespace': name }, {})).toThrow('agent-namespace');
  });
});

describe('the family', () => {
  const client = createClient({
    transport: inProcessTransport(() => Promise.reject(new Error('nobody is asked'))),
    clock: realClock,
    random: systemRandom,
  });
  const create = (more: { namespace?: string; log?: Log }) =>
    storagePool.create(
      {
        clock: realClock,
        random: systemRandom,
        registry: new Registry(),
        log: silentLog,
        guard: trustedTime(realClock),
        client,
        impersonate: () => client,
        actAs: 'author',
        isEnabled: () => false,
        ...more,
      },
      { storagePool: { agentNamespace: 'agents' } },
    );

  test('is registered and disabled by default', () => {
    expect(FAMILIES).toContain(storagePool);
    expect(storagePool.defaultOn).toBe(false);
    expect(storagePool.kinds.map(({ kind }) => kind.kind)).toEqual([
      'ReplicatedStoragePool',
      'LVMVolumeGroup',
    ]);
  });
  test('has one controller, which watches the agents in the configured namespace', () => {
    const { controllers, admission } = create({});
    expect(controllers.map(({ name }) => name)).toEqual(['storage-pool']);
    expect(controllers[0]!.watches!.map(({ namespace }) => namespace)).toEqual([
      undefined,
      undefined,
      'agents',
    ]);
    expect(admission).toEqual([]);
  });
  test('is not run in an installation for one namespace, and logs a warning', () => {
    const said: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, message: string) => void said.push(message) };
    expect(create({ namespace: 'team-a', log }).controllers).toEqual([]);
    expect(said).toEqual(['storage-pool needs the whole cluster and is not run']);
  });
});
