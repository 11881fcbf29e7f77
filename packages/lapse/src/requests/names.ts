// Names made from the uid of a request: a repeated attempt finds what an earlier one made, and a request that was
// recreated under its old name never does.

/** Of the keeper, by what it keeps. */
export const keeperName = (keeps: 'snapshot' | 'pv' | 'pvc' | 'mcr', uid: string): string =>
  `ret-${keeps}-${uid}`;

/** Whether a keeper of this name keeps a detached volume. */
export const isDetachKeeper = (name: string): boolean => name.startsWith('ret-pv-');

const SNAPSHOT = 'snapshot-';
export const snapshotName = (uid: string): string => `${SNAPSHOT}${uid}`;

/** The uid of the request a VolumeSnapshotContent was made for; undefined when its name is not one of ours. */
export const uidOfSnapshot = (name: string): string | undefined =>
  name.startsWith(SNAPSHOT) ? name.slice(SNAPSHOT.length) : undefined;
