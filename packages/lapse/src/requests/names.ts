// Names derived from the uid of a request. A retry finds the objects of an earlier attempt; a request that was recreated
// under the same name does not.

/** The name of the keeper. */
export const keeperName = (keeps: 'snapshot' | 'pv' | 'pvc' | 'mcr', uid: string): string =>
  `ret-${keeps}-${uid}`;

/** Whether a keeper of this name keeps a detached volume. */
export const isDetachKeeper = (name: string): boolean => name.startsWith('ret-pv-');

const SNAPSHOT = 'snapshot-';
export const snapshotName = (uid: string): string => `${SNAPSHOT}${uid}`;

/** The uid of the request that a VolumeSnapshotContent was created for; undefined if Lapse did not create it. */
export const uidOfSnapshot = (name: string): string | undefined =>
  name.startsWith(SNAPSHOT) ? name.slice(SNAPSHOT.length) : undefined;
