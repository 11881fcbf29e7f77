import { Job } from '@lapse/kube/api/kinds/builtin';
import { expect, test } from 'vitest';
import { TTLPolicy } from '#api/ttlPolicy';
import { KeyOwners } from './keyOwners.ts';

const whose = new KeyOwners();
whose.controller('ttl-after-finished', 'ttl-after-finished', Job);
whose.controller('ttl-policy', 'ttl-policy', TTLPolicy);
whose.seen({ group: 'tekton.dev', resource: 'pipelineruns', kind: 'PipelineRun' });

test.each([
  ['ttl-after-finished', 'default/report', 'job/report'],
  ['ttl-policy', 'ci/runs', 'ci/ttlpolicy/runs'],
  ['ttl-policy', 'everywhere', 'clusterttlpolicy/everywhere'],
  ['ttl-policy', 'pipelineruns.tekton.dev/ci/run-1', 'ci/pipelinerun/run-1'],
  ['ttl-policy', 'nodes.//worker-1', 'nodes/worker-1'],
  ['somebody', 'a', 'somebody/a'],
])('a reconcile of %s for %s is about %s', (controller, key, ref) => {
  expect(whose.refOf(controller, key)).toBe(ref);
});
