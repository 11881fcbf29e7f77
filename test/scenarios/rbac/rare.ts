// Rights that the usual course of a family does not need.

/**
 * Rights that only the admission plugin OwnerReferencesPermissionEnforcement asks for. It is off by default, and asks
 * without a request of its own; requests.kube.ts runs with it.
 */
export const ENFORCED: readonly string[] = [
  'delete persistentvolumes',
  'update objectkeepers.deckhouse.io/finalizers',
];

/**
 * Also those that only a crash, a lost answer or a long time needs: rights.soak.ts brings these about on the embedded
 * server, and shows for each of them that it is needed.
 */
export const RARE: readonly string[] = [
  ...ENFORCED,
  // A capture that goes on after a crash between two chunks.
  'get manifestcheckpointcontentchunks.state-snapshotter.deckhouse.io',
  // A create whose answer was lost: the next one meets its object, which the cache does not show yet.
  'get volumesnapshotcontents.snapshot.storage.k8s.io',
  // Something that is said again within minutes.
  'patch events.events.k8s.io',
];
