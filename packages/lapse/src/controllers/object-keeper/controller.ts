// Defines the object-keeper controller: it watches keepers and, dynamically, the kinds that they follow.

import { keyOf } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController, type Right } from '@lapse/runtime/definition';
import { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { type FollowObjectRef, ObjectKeeper } from '#api/objectKeeper';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { requireAll } from '#requests/direct';
import { standbyHooks } from '#requests/ownDeletion';
import { type KeeperOptions, reconcileKeeper } from './reconcile.ts';

const FOLLOWED = 'followed';

/** The kinds that keepers of Lapse follow. */
const DEFAULT_FOLLOWED: readonly string[] = [
  VolumeCaptureRequest,
  VolumeRestoreRequest,
  ManifestCaptureRequest,
].map(({ group, resource }) => `${resource}.${group}`);

/** The resources that Lapse may read: those of its own keepers, and those that the operator configures. */
export const followedResources = (follow: readonly string[]): string[] => [
  ...new Set([...DEFAULT_FOLLOWED, ...follow]),
];

/** `configmaps`, `volumecapturerequests.storage.deckhouse.io`. */
function rightToFollow(text: string): Right {
  const [resource = '', ...group] = text.split('.');
  return { group: group.join('.'), resource, verbs: ['get', 'list', 'watch'] };
}

/** The index key of watch events: a cluster-scoped object has no namespace, regardless of the reference. */
const indexOf = ({ kind, namespace = '', name }: FollowObjectRef): string[] => [
  ...new Set([`${kind} ${namespace}/${name}`, `${kind} /${name}`]),
];

export function objectKeeperController(options: KeeperOptions): ControllerDefinition<ObjectKeeper> {
  const { expirer, guard, crds, follow = [] } = options;
  requireAll('object-keeper', { expirer, guard, crds });
  return defineController<ObjectKeeper>({
    name: 'object-keeper',
    for: ObjectKeeper,
    // Own status writes trigger no reconcile.
    facts: ({ metadata, spec }) => [metadata.deletionTimestamp, spec],
    indexes: {
      [FOLLOWED]: ({ spec }) => {
        const ref = spec?.followObjectRef;
        return ref === undefined ? [] : indexOf(ref);
      },
    },
    dynamic: {
      // Only the existence and the uid of the followed object matter.
      facts: ({ metadata }) => metadata.uid,
      to: ({ metadata }, source, cache) =>
        cache
          .byIndex(ObjectKeeper, FOLLOWED, `${source.kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`)
          .map(keyOf),
    },
    concurrency: 8,
    rights: [
      { group: ObjectKeeper.group, resource: 'objectkeepers', verbs: ['get', 'delete'] },
      { group: ObjectKeeper.group, resource: 'objectkeepers/status', verbs: ['patch'] },
      { group: CustomResourceDefinition.group, resource: 'customresourcedefinitions', verbs: ['get'] },
      ...followedResources(follow).map(rightToFollow),
    ],
    ...standbyHooks(ObjectKeeper, expirer),
    reconcile: (ctx) => reconcileKeeper(ctx, options),
  });
}
