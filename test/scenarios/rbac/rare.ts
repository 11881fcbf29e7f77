// Rights that the usual operation of a family does not need.

/**
 * Rights that only the admission plugin OwnerReferencesPermissionEnforcement checks. It is off by default, and checks
 * them without a separate request; requests.kube.ts runs with it.
 */
export const ENFORCED: readonly string[] = [
  'delete persistentvolumes',
  'update objectkeepers.deckhouse.io/finalizers',
];

/**
 * Also those needed only after a crash, a lost answer or a long time: rights.soak.ts causes these on the embedded
 * server, and shows for each that it is needed.
 */
export const RARE: readonly string[] = [
  ...ENFORCED,
  // A capture that resumes after a crash between two chunks.
  'get manifestcheckpointcontentchunks.state-snapshotter.deckhouse.io',
  // A create whose answer was lost: the retry meets its own object, which the cache does not contain yet.
  'get volumesnapshotcontents.snapshot.storage.k8s.io',
  // An Event that repeats within minutes.
  'patch events.events.k8s.io',
];
