// Where Helm keeps releases: one Secret (or ConfigMap) per revision, found by labels, named after the revision.

import { decodeBase64, fromUtf8 } from '@lapse/base/codec';
import { nextTurn } from '@lapse/base/turn';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Manifest, parseManifestInTurns } from './manifest.ts';
import { type Decoded, decodeRelease, isComplete, type Release, type UnpackBudget } from './release.ts';

/** How Helm names releases. */
const RELEASE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_NAME = 53;

export const isReleaseName = (name: string): boolean =>
  name.length <= LONGEST_NAME && RELEASE_NAME.test(name);

/** The two places: Helm's own names for its drivers. */
export type Driver = 'secret' | 'configmap';

export const SECRET_TYPE = 'helm.sh/release.v1';

/** Finds all revisions of a release, with either driver. */
export const storageSelector = (release: string): string => `name=${release},owner=helm`;

/** An object that holds one revision; its payload is not looked at yet. */
export interface Stored {
  readonly driver: Driver;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  /** As its label says: a hint, the payload decides. */
  readonly status: string;
  readonly payload: string;
  readonly resourceVersion?: string;
}

/** A revision and what it holds. */
export interface Revision extends Stored {
  readonly decoded: Decoded;
  /** The objects of its manifest, where they are known already. */
  readonly manifest?: Manifest;
}

const revisionOf = (name: string, release: string): number | undefined => {
  const prefix = `sh.helm.release.v1.${release}.v`;
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^[1-9][0-9]{0,8}$/.test(digits) ? Number(digits) : undefined;
};

/**
 * The object as a revision of this release, or undefined when it is something else that merely has its labels: then it
 * is neither read nor purged.
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

/** A Secret's values are in base64 once more. */
function payloadOf(object: KubeObject, driver: Driver): string {
  const data = object.data as Readonly<Record<string, unknown>> | undefined;
  const value = data !== undefined && Object.hasOwn(data, 'release') ? data.release : undefined;
  if (typeof value !== 'string') return '';
  if (driver === 'configmap') return value;
  const bytes = decodeBase64(value);
  return bytes === undefined ? '' : fromUtf8(bytes);
}

/** What unpacking the revisions of one release may take, in bytes. */
const MOST_PER_RELEASE = 32 * 2 ** 20;

/**
 * A history with those revisions unpacked that matter: the newest, and, when that one never became complete, the last
 * one that did. Releases carry whole charts, and there may be hundreds of revisions: labels say which to open, and what
 * was opened in vain counts towards the limit of the release. One history of the process is open at a time.
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
  let isEnough = false;
  for (const stored of newestFirst(history)) {
    const isNewest = opened.length === 0;
    const matters: boolean = isNewest || (!isEnough && stored.status === 'deployed');
    const decoded: Decoded = matters ? openWithin(stored, release, budget) : NOT_OPENED;
    // Unpacking takes some tens of milliseconds: other work gets its turn before and after.
    if (matters) await nextTurn();
    const manifest =
      decoded.kind === 'release' ? await parseManifestInTurns(decoded.release.manifest) : undefined;
    opened.push({ ...stored, decoded, ...(manifest === undefined ? {} : { manifest }) });
    if (decoded.kind === 'corrupt') continue;
    isEnough ||= isNewest ? needsNoOther(decoded.release) : isDeployed(decoded.release);
  }
  return opened.reverse();
}

/** The order in which planUninstall reads them, reversed. */
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

/** Unpacks a revision; a payload that speaks of another release than its place does is not believed. */
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
