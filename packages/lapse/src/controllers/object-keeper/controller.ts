// The wiring of object-keeper: keepers, and watches on whatever they follow, which come and go with them.

import { keyOf } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController, type Right } from '@lapse/runtime/definition';
import { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { type FollowObjectRef, ObjectKeeper } from '#api/objectKeeper';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { requireAll } from '#requests/direct';
import { type KeeperOptions, reconcileKeeper } from './reconcile.ts';

const FOLLOWED = 'followed';

/** What keepers of ours follow. */
const OURS: readonly string[] = [VolumeCaptureRequest, VolumeRestoreRequest, ManifestCaptureRequest].map(
  ({ group, resource }) => `${resource}.${group}`,
);

/** Resources that we have the right to look at: ours, and those an operator names. */
export const followedResources = (follow: readonly string[]): string[] => [...new Set([...OURS, ...follow])];

/** `configmaps`, `volumecapturerequests.storage.deckhouse.io`. */
function rightToFollow(text: string): Right {
  const [resource = '', ...group] = text.split('.');
  return { group: group.join('.'), resource, verbs: ['get', 'list', 'watch'] };
}

/** As events tell of it: what is cluster-wide is in no namespace there, whatever a reference says. */
const indexOf = ({ kind, namespace = '', name }: FollowObjectRef): string[] => [
  ...new Set([`${kind} ${namespace}/${name}`, `${kind} /${name}`]),
];

export function objectKeeperController(options: KeeperOptions): ControllerDefinition<ObjectKeeper> {
  const { deletes, guard, definitions, follow = [] } = options;
  requireAll('object-keeper', { deletes, guard, definitions });
  return defineController<ObjectKeeper>({
    name: 'object-keeper',
    for: ObjectKeeper,
    // Our own status writes wake nobody.
    facts: ({ metadata, spec }) => [metadata.deletionTimestamp, spec],
    indexes: {
      [FOLLOWED]: ({ spec }) => {
        const ref = spec?.followObjectRef;
        return ref === undefined ? [] : indexOf(ref);
      },
    },
    dynamic: {
      // Whether it exists, and as which object: nothing else about it matters.
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
    reconcile: (pass) => reconcileKeeper(pass, options),
  });
}
