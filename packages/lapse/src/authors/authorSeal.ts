// Signs and verifies the author of an object. The API server does not store the author of a spec. Mutating admission
// knows the author and writes an annotation: the author, the time, the object, and an HMAC over them and the spec. An
// object that was created or edited without admission, or copied to another name, has no valid HMAC and thus no author.
// Signatures expire, because they contain the author's groups.

import { hmac, isHmacOf } from '@lapse/base/hmac';
import { formatTime, type Instant, isDue, type Millis, minutes, parseTime, plus } from '@lapse/base/instant';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { getOwn, isObject } from '@lapse/kube/api/json';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import { accountSubject, type Subject } from './accessReview.ts';
import { AuthorKey, type AuthorKeyOptions } from './authorKey.ts';

export const AUTHOR_ANNOTATION = 'lapse.dev/author';
/** The annotation value that makes the caller the author of the unchanged object. */
export const CLAIM = 'claim';

/** The API server limits the annotations of one object to 256 KiB in total. */
const MAX_TEXT = 64 * 1024;
/** Maximum difference between the signature of a new object and its creationTimestamp: clock skew and admission time. */
const CREATION_TOLERANCE: Millis = minutes(5);

/** What a signature covers: the object, by name, and its spec. */
export interface Signed {
  readonly kind: string;
  readonly namespace?: string;
  /** Empty if the API server generates the name from `generateName`. */
  readonly name: string;
  /** Set if the name may be generated after the signature. */
  readonly generateName?: string;
  /** The signed part of the object, without defaulted fields. */
  readonly asked: Json;
}

/** The content of the annotation. */
export interface SealedAuthor {
  readonly subject: Subject;
  /** When the API server authenticated the author. Unset: signed by a version without expiry. */
  readonly issuedAt?: Instant;
  /** The uid of the object, if it existed when it was signed. */
  readonly objectUid?: string;
  /** When a new object was signed. It has no uid yet, so its creationTimestamp must be close to this time. */
  readonly objectCreatedAt?: Instant;
}

export type AuthorProof =
  | { readonly kind: 'author'; readonly subject: Subject; readonly expiresAt?: Instant }
  | { readonly kind: 'expired'; readonly subject: Subject; readonly expiredAt: Instant }
  /** No annotation, or one whose signature is not for this object and spec. */
  | { readonly kind: 'unknown' };

export interface AuthorSealOptions extends AuthorKeyOptions {
  readonly now: () => Instant;
  /** Lifetime of signatures of authors who are not service accounts. Unset: they do not expire. */
  readonly lifetime?: Millis;
}

export class AuthorSeal {
  readonly #options: AuthorSealOptions;
  readonly #key: AuthorKey;

  constructor(options: AuthorSealOptions) {
    this.#options = options;
    this.#key = new AuthorKey(options);
  }

  /** Returns the annotation for an object that is written now. `objectUid` is unset for a new object. */
  async seal(
    subject: Subject,
    signed: Signed,
    { objectUid, issuedAt = this.#options.now() }: Pick<SealedAuthor, 'objectUid' | 'issuedAt'> = {},
  ): Promise<string> {
    const { username, uid, groups = [], extra } = subject;
    const content: JsonObject = {
      username,
      ...(uid === undefined ? {} : { uid }),
      groups: [...groups],
      ...(extra === undefined ? {} : { extra: extra as unknown as JsonObject }),
      issuedAt: formatTime(issuedAt),
      ...(objectUid === undefined ? { objectCreatedAt: formatTime(this.#options.now()) } : { objectUid }),
    };
    const [text] = signedTexts(content, signed);
    return canonical({ ...content, seal: hmac(await this.key(), text!) });
  }

  /** The author of a stored object. */
  async authorOf({ metadata }: KubeObject, signed: Signed): Promise<AuthorProof> {
    const sealed = await this.verify(metadata.annotations?.[AUTHOR_ANNOTATION], signed);
    if (sealed === undefined || !isForObject(sealed, metadata)) return { kind: 'unknown' };
    return computeProof(sealed, metadata, this.#options.now(), this.#options.lifetime);
  }

  /** Returns the content of an annotation that was signed for this name and spec. Does not check the uid. */
  async verify(text: string | undefined, signed: Signed): Promise<SealedAuthor | undefined> {
    const parsed = text === undefined ? undefined : parseAuthor(text);
    if (parsed === undefined) return undefined;
    const { seal, ...content } = parsed;
    const key = await this.key();
    const isSigned = signedTexts(content, signed).some((one) => isHmacOf(key, one, seal));
    return isSigned ? sealedFrom(content) : undefined;
  }

  key(): Promise<Uint8Array> {
    return this.#key.read();
  }
}

/** The user name in the annotation, without a check of the signature. For display only. */
export function authorNameIn(text: string | undefined): string | undefined {
  const username = text === undefined ? undefined : parseAuthor(text)?.username;
  return typeof username === 'string' ? username : undefined;
}

/** Whether the signature is for this object and not for an earlier one of the same name. */
export function isForObject(
  { objectUid, objectCreatedAt }: SealedAuthor,
  { uid, creationTimestamp }: ObjectMeta,
): boolean {
  if (objectUid !== undefined) return objectUid === uid;
  return (
    objectCreatedAt === undefined ||
    Math.abs(parseTime(creationTimestamp ?? '') - objectCreatedAt) <= CREATION_TOLERANCE
  );
}

/**
 * Whether a valid signature has expired. The groups of a service account follow from its name, so its signature does
 * not expire. A signature without a time counts from the creation of its object, which no user can change.
 */
export function computeProof(
  { subject, issuedAt }: SealedAuthor,
  { creationTimestamp }: ObjectMeta,
  now: Instant,
  lifetime: Millis | undefined,
): AuthorProof {
  const account = serviceAccountIn(subject.username);
  if (account !== undefined) return { kind: 'author', subject: accountSubject(account) };
  if (lifetime === undefined) return { kind: 'author', subject };
  const expiresAt = plus(issuedAt ?? parseTime(creationTimestamp ?? ''), lifetime);
  // An unreadable time is NaN and counts as expired.
  return isDue(expiresAt, now) || Number.isNaN(expiresAt)
    ? { kind: 'expired', subject, expiredAt: expiresAt }
    : { kind: 'author', subject, expiresAt };
}

function serviceAccountIn(username: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** The command that makes the user the author of the unchanged object, or renews the signature. */
export const claimCommand = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `kubectl annotate${namespace ? ` -n ${namespace}` : ''} ${kind.toLowerCase()} ${name} ${AUTHOR_ANNOTATION}=${CLAIM} --overwrite`;

export const describeUnknown = (object: KubeObject): string =>
  `author unknown: the spec was written without the Lapse webhook; to become its author, run: ${claimCommand(object)}`;

export const describeExpiry = (expiresAt: Instant, object: KubeObject): string =>
  `the signature of its author expires at ${formatTime(expiresAt)}; to renew it, run: ${claimCommand(object)}`;

export const describeExpired = (
  { subject, expiredAt }: Extract<AuthorProof, { kind: 'expired' }>,
  object: KubeObject,
): string =>
  `the signature of its author ${subject.username} expired at ${formatTime(expiredAt)}; to renew it, run: ${claimCommand(object)}`;

/** The texts that a signature may cover: with the name, and with the prefix of a name that was generated later. */
function signedTexts(
  content: JsonObject,
  { kind, namespace = '', name, generateName, asked }: Signed,
): string[] {
  const isGenerated = generateName !== undefined && name.startsWith(generateName);
  const names = [
    ...(name === '' ? [] : [name]),
    ...(isGenerated || (name === '' && generateName !== undefined) ? [`${generateName}*`] : []),
  ];
  return names.map((one) => canonical(['lapse.dev/author/1', kind, namespace, one, asked, content]));
}

function sealedFrom({
  username,
  uid,
  groups,
  extra,
  issuedAt,
  objectUid,
  objectCreatedAt,
}: JsonObject): SealedAuthor {
  const subject = { username, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
  return {
    subject: subject as unknown as Subject,
    ...(issuedAt === undefined ? {} : { issuedAt: parseTime(String(issuedAt)) }),
    ...(objectUid === undefined ? {} : { objectUid: String(objectUid) }),
    ...(objectCreatedAt === undefined ? {} : { objectCreatedAt: parseTime(String(objectCreatedAt)) }),
  };
}

/** The username in an annotation. The signature is not verified. */
export const namedAuthor = (text: string): string | undefined => parseAuthor(text)?.username;

/** The author in an annotation. The signature is not verified: only for forecasts, which delete nothing. */
export function claimedAuthor(text: string): Subject | undefined {
  const parsed = parseAuthor(text);
  if (parsed === undefined) return undefined;
  const { subject } = sealedFrom(parsed);
  const account = serviceAccountIn(subject.username);
  return account === undefined ? subject : accountSubject(account);
}

function parseAuthor(text: string): (JsonObject & { username: string; seal: string }) | undefined {
  if (text.length > MAX_TEXT) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(parsed) || typeof parsed['seal'] !== 'string') return undefined;
  const { username, groups } = parsed;
  const areTexts = Array.isArray(groups) && groups.every((group) => typeof group === 'string');
  if (typeof username !== 'string' || username === '' || !areTexts) return undefined;
  return parsed as JsonObject & { username: string; seal: string };
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonical(value: Json | undefined): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(getOwn(value, key))}`);
  return `{${fields.join(',')}}`;
}
