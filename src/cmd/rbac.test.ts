import { expect, test } from 'vitest';
import { ConfigMap, Job } from '#api/kinds/builtin';
import { defineController } from '#runtime/definition';
import { settled } from '#runtime/outcome';
import { buildAccess } from './rbac.ts';

test('exactly what is declared, Events, and the lease', () => {
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
  const objects = buildAccess({ namespace: 'lapse-system', name: 'lapse' }, [one, two]);
  expect(objects.map(({ kind }) => kind)).toEqual([
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
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
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] },
  ]);
});
