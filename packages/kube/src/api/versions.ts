// Resource versions of one resource are comparable decimal numbers (guaranteed since Kubernetes 1.35, true of etcd
// before). They may exceed 2^53, so they are compared as text: longer is larger.

const VERSION = /^[1-9]\d*$/;

/** Whether the text is a comparable version: decimal, positive, without leading zero. */
export const isComparableVersion = (version: string | undefined): version is string =>
  version !== undefined && VERSION.test(version);

/**
 * Negative if `a` is older than `b`, positive if it is newer, 0 if they are equal. Undefined if either is not a number:
 * such versions can only be tested for equality.
 */
export function compareVersions(a: string | undefined, b: string | undefined): -1 | 0 | 1 | undefined {
  if (!isComparableVersion(a) || !isComparableVersion(b)) return undefined;
  if (a === b) return 0;
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a < b ? -1 : 1;
}
