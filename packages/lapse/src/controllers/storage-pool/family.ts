// Registers the storage pool family: one controller, configured with the namespace of the agents.

import { lvmVolumeGroup } from '#api/lvmVolumeGroup';
import { replicatedStoragePool } from '#api/replicatedStoragePool';
import type { Family } from '../family.ts';
import { storagePoolController } from './controller.ts';
import { forecastPools } from './forecast.ts';

export const storagePool: Family = {
  name: 'storage-pool',
  description: 'Keeps the list of nodes that are fit for each ReplicatedStoragePool.',
  defaultOn: false,
  kinds: [replicatedStoragePool, lvmVolumeGroup],
  gates: [],
  configuration: {
    storagePool: {
      type: 'object',
      default: {},
      description: 'ReplicatedStoragePool eligibility.',
      properties: {
        agentNamespace: {
          type: 'string',
          minLength: 1,
          maxLength: 63,
          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
          default: 'lapse-system',
          description:
            'Namespace of the agent Pods (label app=agent); that of this process when it knows it.',
        },
      },
    },
  },
  environment: { POD_NAMESPACE: 'storagePool.agentNamespace' },
  flags: {
    'agent-namespace': {
      field: 'storagePool.agentNamespace',
      description: 'namespace of the storage agents (default: the namespace of this process)',
    },
  },
  create(services, { storagePool: { agentNamespace } = {} }) {
    // Pools, volume groups and nodes are cluster-scoped, so an installation for a single namespace cannot read them.
    if (services.namespace !== undefined) {
      services.log.warn(
        { namespace: services.namespace },
        'storage-pool needs the whole cluster and is not run',
      );
      return { controllers: [], admission: [] };
    }
    return {
      controllers: [
        storagePoolController({
          agentNamespace: String(agentNamespace ?? 'lapse-system'),
          guard: services.guard,
          clock: services.clock,
        }),
      ],
      admission: [],
    };
  },
  forecaster: forecastPools,
};
