import { ConfigMap, Job } from '@lapse/kube/api/kinds/builtin';
import { defineController } from '@lapse/runtime/definition';
import { settled } from '@lapse/runtime/outcome';
import { expect, test } from 'vitest';
import { buildAccess } from './rbac.ts';

test('the roles contain exactly the declared rights, Events, and the lease', () => {
  const one = defineController({
    name: 'one',
    for: ConfigMap,
    rights: [{ group: '', resource: 'configmaps', verbs: ['delete'] }],
    reconcile: () => settled(),
  });
  const two = defineController({
    name: 'two',
    for: Job,
    watches: [{ kind: ConfigMap, to: () => [] }],
    rights: [{ group: 'batch', resource: 'jobs/status', verbs: ['patch'] }],
    reconcile: () => settled(),
  });
  const objects = buildAccess(
    { namespace: 'lapse-system', name: 'lapse' },
    {
      controllers: [one, two],
      rights: [
        {
          namespace: 'lapse-system',
          group: '',
          resource: 'secrets',
          verbs: ['get', 'create'],
          names: ['key'],
        },
        { namespace: 'other', group: '', resource: 'secrets', verbs: ['create'] },
      ],
    },
  );
  expect(objects.map(({ kind }) => kind)).toEqual([
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
    'Role',
    'RoleBinding',
    'Role',
    'RoleBinding',
  ]);
  expect(objects[1]!['rules']).toEqual([
    { apiGroups: [''], resources: ['configmaps'], verbs: ['delete', 'list', 'watch'] },
    { apiGroups: ['batch'], resources: ['jobs'], verbs: ['list', 'watch'] },
    { apiGroups: ['batch'], resources: ['jobs/status'], verbs: ['patch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ]);
  expect(objects[3]!['rules']).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['key'], verbs: ['get'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['lapse', 'lapse-dry-run'],
      verbs: ['get', 'update'],
    },
  ]);
  expect(objects[5]).toMatchObject({
    metadata: { namespace: 'other' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['create'] }],
  });
});
