// The secret part of the webhook path. Only the webhook configurations contain it, so that only the API server and users
// who may read these configurations can call the webhook. It is rotated; each rotation uses a secret that all replicas
// have known for at least an hour.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { hours, type Instant, instant, minutes } from '@lapse/base/instant';
import { isObject, type Json } from '@lapse/kube/api/json';

export interface PathSecrets {
  /** The secret in the webhook configurations. */
  readonly current: string;
  /** The secret after the next rotation. Already accepted, because another replica may rotate first. */
  readonly next: string;
  /** The secret before the last rotation. API servers may use it until they have observed the change. */
  readonly previous?: string;
  readonly rotatedAt: Instant;
}

/** Minimum time between rotations, in which every replica reads the next secret. */
const SHORTEST_LIFETIME = hours(1);
const LONGEST_LIFETIME = hours(24);
/** How long the previous secret is accepted after the injection of the current one; longer than replicas may differ. */
const GRACE = minutes(30);
/** 32 bytes in hex: API servers allow only lower-case DNS labels as segments of a webhook path. */
const SHAPE = /^[0-9a-f]{64}$/;

const makeSecret = (): string => randomBytes(32).toString('hex');

const PREFIX = '/review/';

/** The path of an admission function. */
export const reviewPath = (name: string, secret?: string): string =>
  secret === undefined ? `${PREFIX}${name}` : `${PREFIX}${secret}/${name}`;

/** The inverse of `reviewPath`; undefined for other paths. */
export function parseReviewPath(path: string): { name: string; secret?: string } | undefined {
  if (!path.startsWith(PREFIX)) return undefined;
  const parts = path.slice(PREFIX.length).split('/');
  const name = parts.pop()!;
  if (parts.length > 1) return undefined;
  return { name, ...(parts.length === 0 ? {} : { secret: parts[0]! }) };
}

export interface RotationContext {
  readonly now: Instant;
  /** The process is starting. API servers may have shown the path in error messages while no replica responded. */
  readonly starting: boolean;
  /** The certificate is renewed in the same write. */
  readonly renewed: boolean;
}

export function isRotationDue(
  secrets: PathSecrets | undefined,
  { now, starting, renewed }: RotationContext,
): boolean {
  if (secrets === undefined) return true;
  const age = now - secrets.rotatedAt;
  return age >= SHORTEST_LIFETIME && (starting || renewed || age >= LONGEST_LIFETIME);
}

export function rotate(before: PathSecrets | undefined, now: Instant): PathSecrets {
  if (before === undefined) return { current: makeSecret(), next: makeSecret(), rotatedAt: now };
  return { current: before.next, next: makeSecret(), previous: before.current, rotatedAt: now };
}

/** `isInjected`: the webhook configurations are known to contain the current secret. */
export function computeAccepted(
  { current, next, previous, rotatedAt }: PathSecrets,
  isInjected: boolean,
  now: Instant,
): readonly string[] {
  const isRetired = previous === undefined || (isInjected && now - rotatedAt >= GRACE);
  return isRetired ? [current, next] : [current, next, previous];
}

/** Constant-time comparison. */
export function isAccepted(candidate: string, accepted: readonly string[]): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  const given = digest(candidate);
  let found = false;
  for (const secret of accepted) found = timingSafeEqual(given, digest(secret)) || found;
  return found;
}

/** Returns undefined if `writePathSecrets` did not write the text; the caller then creates new secrets. */
export function readPathSecrets(text: string): PathSecrets | undefined {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  if (!isObject(json)) return undefined;
  const { current, next, previous, rotatedAt } = json;
  if (!isSecret(current) || !isSecret(next) || typeof rotatedAt !== 'number') return undefined;
  return { current, next, rotatedAt: instant(rotatedAt), ...(isSecret(previous) ? { previous } : {}) };
}

const isSecret = (value: Json | undefined): value is string => typeof value === 'string' && SHAPE.test(value);

export const writePathSecrets = (secrets: PathSecrets): string => JSON.stringify(secrets);
