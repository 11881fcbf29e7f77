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
  // A capture that fails at its deadline, and a restore whose claim is never bound: Lapse deletes what it created.
  'delete volumesnapshotcontents.snapshot.storage.k8s.io',
  'delete persistentvolumeclaims',
  // A restore that completes needs a storage system: stockStack.kube.ts simulates one on a real API server.
  'patch persistentvolumes',
  'patch volumesnapshotcontents.snapshot.storage.k8s.io',
  'patch volumesnapshots.snapshot.storage.k8s.io',
  // Saved objects that are older than trash.keep.
  'delete secrets',
  // An Event that repeats within minutes.
  'patch events.events.k8s.io',
];
