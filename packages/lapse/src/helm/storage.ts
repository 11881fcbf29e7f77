// Reads the storage of Helm: one Secret or ConfigMap per revision, found by labels and named after the revision.

import { decodeBase64, fromUtf8 } from '@lapse/base/codec';
import { nextTurn } from '@lapse/base/turn';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Manifest, parseManifestInTurns } from './manifest.ts';
import { type Decoded, decodeRelease, isComplete, type Release, type UnpackBudget } from './release.ts';

/** The pattern of Helm for release names. */
const RELEASE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_NAME = 53;

export const isReleaseName = (name: string): boolean =>
  name.length <= LONGEST_NAME && RELEASE_NAME.test(name);

/** The storage drivers, with Helm's names. */
export type Driver = 'secret' | 'configmap';

export const SECRET_TYPE = 'helm.sh/release.v1';

/** Finds all revisions of a release, with either driver. */
export const storageSelector = (release: string): string => `name=${release},owner=helm`;

/** An object that stores one revision. Its payload is not decoded yet. */
export interface Stored {
  readonly driver: Driver;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  /** The status label. Only a hint: the payload is authoritative. */
  readonly status: string;
  readonly payload: string;
  readonly resourceVersion?: string;
}

/** A revision with its decoded payload. */
export interface Revision extends Stored {
  readonly decoded: Decoded;
  /** The parsed manifest, if it was parsed already. */
  readonly manifest?: Manifest;
}

const revisionOf = (name: string, release: string): number | undefined => {
  const prefix = `sh.helm.release.v1.${release}.v`;
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^[1-9][0-9]{0,8}$/.test(digits) ? Number(digits) : undefined;
};

/**
 * Reads the object as a revision of this release. Returns undefined for other objects with the same labels: they are
 * neither read nor purged.
 */
export function readStored(object: KubeObject, driver: Driver, release: string): Stored | undefined {
  const { name = '', uid, labels = {}, resourceVersion } = object.metadata;
  const revision = revisionOf(name, release);
  if (revision === undefined || uid === undefined || uid === '') return undefined;
  if (labels.owner !== 'helm' || labels.name !== release) return undefined;
  if (driver === 'secret' && object.type !== SECRET_TYPE) return undefined;
  return {
    driver,
    name,
    uid,
    revision,
    status: labels.status ?? '',
    payload: payloadOf(object, driver),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** The values of a Secret have a second base64 encoding. */
function payloadOf(object: KubeObject, driver: Driver): string {
  const data = object.data as Readonly<Record<string, unknown>> | undefined;
  const value = data !== undefined && Object.hasOwn(data, 'release') ? data.release : undefined;
  if (typeof value !== 'string') return '';
  if (driver === 'configmap') return value;
  const bytes = decodeBase64(value);
  return bytes === undefined ? '' : fromUtf8(bytes);
}

/** Limit for unpacking all revisions of one release, in bytes. */
const MOST_PER_RELEASE = 32 * 2 ** 20;

/**
 * Unpacks the revisions that an uninstall needs: the newest and, if that one was never complete, the last complete one.
 * A release contains its whole chart, and a history may have hundreds of revisions, so the status labels select which
 * revisions to unpack. Revisions with a wrong label count towards the limit of the release, too. The process unpacks one
 * history at a time.
 */
export const openHistory = (
  history: readonly Stored[],
  release: { readonly name: string; readonly namespace: string },
): Promise<Revision[]> => inTurn(() => openNeeded(history, release, { left: MOST_PER_RELEASE }));

let last: Promise<unknown> = Promise.resolve();

export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
}

async function openNeeded(
  history: readonly Stored[],
  release: { readonly name: string; readonly namespace: string },
  budget: UnpackBudget,
): Promise<Revision[]> {
  const opened: Revision[] = [];
  let isFound = false;
  for (const stored of newestFirst(history)) {
    const isNewest = opened.length === 0;
    const isNeeded: boolean = isNewest || (!isFound && stored.status === 'deployed');
    const decoded: Decoded = isNeeded ? openWithin(stored, release, budget) : NOT_OPENED;
    // Unpacking takes tens of milliseconds: yield to other work.
    if (isNeeded) await nextTurn();
    const manifest =
      decoded.kind === 'release' ? await parseManifestInTurns(decoded.release.manifest) : undefined;
    opened.push({ ...stored, decoded, ...(manifest === undefined ? {} : { manifest }) });
    if (decoded.kind === 'corrupt') continue;
    isFound ||= isNewest ? needsNoOther(decoded.release) : isDeployed(decoded.release);
  }
  return opened.reverse();
}

/** The reverse of the order in planUninstall. */
const newestFirst = (history: readonly Stored[]): Stored[] =>
  [...history].sort((a, b) => b.revision - a.revision || (a.driver < b.driver ? 1 : -1));

const isDeployed = ({ status }: Release): boolean => status === 'deployed';
const needsNoOther = ({ status }: Release): boolean => isComplete(status) || status === 'uninstalled';

function openWithin(
  stored: Stored,
  release: { readonly name: string; readonly namespace: string },
  budget: UnpackBudget,
): Decoded {
  if (budget.left > 0) return openStored(stored, release, budget).decoded;
  const why = `the revisions of the release unpack to more than ${MOST_PER_RELEASE / 2 ** 20} MiB together`;
  return { kind: 'corrupt', why, isOverLimit: true };
}

const NOT_OPENED: Decoded = { kind: 'corrupt', why: 'not opened' };

/** Decodes a revision. A payload that names another release, revision or namespace is corrupt. */
export function openStored(
  stored: Stored,
  release: { readonly name: string; readonly namespace: string },
  budget?: UnpackBudget,
): Revision {
  const decoded = decodeRelease(stored.payload, budget);
  if (decoded.kind === 'corrupt') return { ...stored, decoded };
  const why = contradiction(decoded.release, stored, release);
  return { ...stored, decoded: why === undefined ? decoded : { kind: 'corrupt', why } };
}

function contradiction(
  found: Release,
  stored: Stored,
  expected: { readonly name: string; readonly namespace: string },
): string | undefined {
  if (found.name !== expected.name) return 'the payload is of another release';
  if (found.revision !== stored.revision) return 'the payload is of another revision';
  if (found.namespace !== expected.namespace) return 'the payload is of another namespace';
  return undefined;
}
