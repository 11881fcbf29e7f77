// The declaration of manifest-capture: requests and rights. The operator grants the rights to read targets.

import { type ControllerDefinition, defineController, type Right } from '@lapse/runtime/definition';
import { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { ObjectKeeper } from '#api/objectKeeper';
import { requireAll } from '#requests/direct';
import { standbyHooks } from '#requests/ownDeletion';
import type { ManifestOptions } from './policy.ts';
import { reconcileManifests } from './reconcile.ts';

const right = ({ group, resource }: { group: string; resource: string }, ...verbs: string[]): Right => ({
  group,
  resource,
  verbs,
});
const status = ({ group, resource }: { group: string; resource: string }) => ({
  group,
  resource: `${resource}/status`,
});
const finalizers = (kind: { group: string; resource: string }) => ({
  ...kind,
  resource: `${kind.resource}/finalizers`,
});
const REVIEWS = { group: 'authorization.k8s.io', resource: 'subjectaccessreviews' };

export function manifestCaptureController(
  options: ManifestOptions,
): ControllerDefinition<ManifestCaptureRequest> {
  const { rules, policy, direct, targets, seal, metrics, clock, expirer, guard, random, namespace } = options;
  requireAll('manifest-capture', {
    rules,
    policy,
    direct,
    targets,
    seal,
    metrics,
    clock,
    expirer,
    guard,
    random,
  });
  return defineController<ManifestCaptureRequest>({
    name: 'manifest-capture',
    for: ManifestCaptureRequest,
    ...(namespace === undefined ? {} : { namespace }),
    // Only read. A change does not trigger a reconcile.
    watches: [{ kind: ObjectKeeper, to: () => [] }],
    concurrency: 4,
    rights: [
      right(ManifestCaptureRequest, 'get', 'patch', ...(rules.ttl.mode === 'annotation' ? ['delete'] : [])),
      right(status(ManifestCaptureRequest), 'patch'),
      right(ObjectKeeper, 'get', 'create'),
      // OwnerReferencesPermissionEnforcement requires it where blockOwnerDeletion is set.
      right(finalizers(ObjectKeeper), 'update'),
      right(ManifestCheckpoint, 'get', 'create'),
      right(status(ManifestCheckpoint), 'patch'),
      // Neither list nor watch: chunks contain Secrets.
      right(ManifestCheckpointContentChunk, 'get', 'create'),
      ...(policy.authorization === 'Webhook' ? [right(REVIEWS, 'create')] : []),
    ],
    ...standbyHooks(ManifestCaptureRequest, expirer),
    reconcile: (ctx) => reconcileManifests(ctx, options),
  });
}
