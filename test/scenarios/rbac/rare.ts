// Rights that only a crash, a lost answer or a long time needs. Nobody can bring these about on a real server from outside;
// rights.soak.ts does on the embedded one, and shows for each of them that it is needed.

export const RARE: readonly string[] = [
  // A capture that goes on after a crash between two chunks.
  'get manifestcheckpointcontentchunks.state-snapshotter.deckhouse.io',
  // A create whose answer was lost: the next one meets its object, which the cache does not show yet.
  'get volumesnapshotcontents.snapshot.storage.k8s.io',
  // Something that is said again within minutes.
  'patch events.events.k8s.io',
];
