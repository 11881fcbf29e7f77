// The Secret of the webhook, shared by all replicas. It contains the secret part of the webhook path and, unless files
// provide them, a CA and a serving certificate. Both are renewed in time and injected into the webhook configurations. The
// first replica creates the Secret; the others read it.

import { isGoodFor, issueCertificate, makeAuthority, type Pem } from '@lapse/base/certificates';
import type { Cancel, Clock } from '@lapse/base/clock';
import { hours, type Instant, type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import { wakeAfter } from '@lapse/base/monotonic';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { asError } from '../outcome.ts';
import type { Certificate } from './certificate.ts';
import { injectAll } from './configurations.ts';
import {
  computeAccepted,
  isRotationDue,
  type PathSecrets,
  readPathSecrets,
  rotate,
  writePathSecrets,
} from './reviewPaths.ts';

export interface PathSecretOptions {
  /** Not wrapped in `leaderOnly`, because every replica serves the webhook. */
  readonly client: Pick<Client, 'get' | 'create' | 'update'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly secret: Required<ObjectKey>;
  /** Names of the validating or mutating webhook configurations that call this process. */
  readonly configurations: readonly string[];
}

export interface SelfManagedOptions extends PathSecretOptions {
  /** DNS names of the webhook Service: `lapse.lapse-system.svc`. */
  readonly hosts: readonly string[];
}

export interface ReviewPaths {
  /** The path secrets that are accepted now. */
  accepted(): readonly string[];
  /** Checks the Secret and the configurations now instead of at the next interval. */
  refresh(): Promise<void>;
  /** Checks them soon, at most every 10 s. Used when a caller has a wrong path or does not trust the certificate. */
  refreshSoon(): void;
  close(): void;
}

export interface SelfManagedCertificate extends Certificate, ReviewPaths {
  /** PEM of the CAs that callers must trust, the current one first. */
  caBundle(): string;
}

const AUTHORITY_LIFETIME = hours(2 * 365 * 24);
const AUTHORITY_SPARE = hours(180 * 24);
const LEAF_LIFETIME = hours(90 * 24);
const LEAF_SPARE = hours(30 * 24);
const INTERVAL = minutes(10);
const RETRY = minutes(1);
const SOONEST = seconds(10);
const ROUNDS = 5;

/** The stored form. `bundle` contains every CA whose certificates may still be in use. */
interface StoredCertificate {
  readonly authority: Pem;
  readonly bundle: string;
  readonly leaf: Pem;
}

interface Stored {
  readonly certificate?: StoredCertificate;
  readonly paths?: PathSecrets;
}
type Complete = Stored & { readonly paths: PathSecrets };

export type Renewal = 'nothing' | 'leaf' | 'everything';

/** Which parts must be renewed. */
export function computeRenewal(
  stored: StoredCertificate | undefined,
  hosts: readonly string[],
  now: Instant,
): Renewal {
  if (stored === undefined || !isGoodFor(stored.authority.cert, [], now, AUTHORITY_SPARE))
    return 'everything';
  return isGoodFor(stored.leaf.cert, hosts, now, LEAF_SPARE) ? 'nothing' : 'leaf';
}

const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString();
const encode = (text: string): string => Buffer.from(text).toString('base64');

function readStored({ data = {} }: Pick<Secret, 'data'> = {}, hasCertificate: boolean): Stored {
  const field = (name: string) => decode(data[name]);
  const certificate = {
    authority: { cert: field('authority.crt'), key: field('authority.key') },
    bundle: field('ca.crt'),
    leaf: { cert: field('tls.crt'), key: field('tls.key') },
  };
  const { authority, bundle, leaf } = certificate;
  const isWhole =
    hasCertificate &&
    [...Object.values(authority), bundle, ...Object.values(leaf)].every((text) => text !== '');
  const paths = readPathSecrets(field('review-paths'));
  return { ...(isWhole ? { certificate } : {}), ...(paths === undefined ? {} : { paths }) };
}

function writeStored({ certificate, paths }: Complete): Record<string, string> {
  const data = { 'review-paths': encode(writePathSecrets(paths)) };
  if (certificate === undefined) return data;
  const { authority, bundle, leaf } = certificate;
  return {
    ...data,
    'authority.crt': encode(authority.cert),
    'authority.key': encode(authority.key),
    'ca.crt': encode(bundle),
    'tls.crt': encode(leaf.cert),
    'tls.key': encode(leaf.key),
  };
}

async function renew(
  before: StoredCertificate | undefined,
  hosts: readonly string[],
  now: Instant,
): Promise<StoredCertificate> {
  const isNew = computeRenewal(before, hosts, now) === 'everything';
  const authority =
    isNew || before === undefined
      ? await makeAuthority('lapse-webhook-ca', now, AUTHORITY_LIFETIME)
      : before.authority;
  const leaf = await issueCertificate({ authority, hosts, name: hosts[0]!, now, lifetime: LEAF_LIFETIME });
  // Certificates of the previous CA are in use until every replica has read the Secret.
  const older = before === undefined ? [] : [before.authority.cert];
  const bundle = [...new Set([authority.cert, ...older])].map((pem) => `${pem.trim()}\n`).join('');
  return { authority, bundle, leaf };
}

/** Throws if there is no certificate at the start. Later problems are logged, and the previous pair is kept. */
export async function openSelfManaged(options: SelfManagedOptions): Promise<SelfManagedCertificate> {
  const { paths, certificate, onChange } = await openSecret(options, options.hosts);
  return {
    ...paths,
    current: () => certificate()!.leaf,
    caBundle: () => certificate()!.bundle,
    onChange: (listener) => onChange((stored) => listener(stored.leaf)),
  };
}

/** Manages only the path secrets, for a certificate from files. */
export const openPathSecret = async (options: PathSecretOptions): Promise<ReviewPaths> =>
  (await openSecret(options)).paths;

interface OpenSecret {
  readonly paths: ReviewPaths;
  certificate(): StoredCertificate | undefined;
  onChange(listener: (certificate: StoredCertificate) => void): () => void;
}

async function openSecret(options: PathSecretOptions, hosts?: readonly string[]): Promise<OpenSecret> {
  const { clock, log } = options;
  const listeners = new Set<(certificate: StoredCertificate) => void>();
  let stored = await obtain(options, hosts, 'keep');
  let isInjected = false;
  const inject = async ({ certificate, paths }: Complete): Promise<boolean> =>
    injectAll(options, {
      secret: paths.current,
      ...(certificate === undefined ? {} : { bundle: certificate.bundle }),
    });

  async function refresh(starting = false): Promise<boolean> {
    try {
      // Path secrets that could not be injected are not rotated, because the configurations would fall behind.
      const next = await obtain(options, hosts, isInjected ? (starting ? 'start' : 'rotate') : 'keep');
      // Injects the new CA before its certificate is served.
      isInjected = await inject(next);
      const factsChanged = next.certificate?.leaf.cert !== stored.certificate?.leaf.cert;
      stored = next;
      if (factsChanged && next.certificate !== undefined)
        for (const listener of listeners) listener(next.certificate);
      return isInjected;
    } catch (error) {
      log.warn({ error: asError(error) }, 'the Secret of the webhook could not be read or renewed');
      return false;
    }
  }
  isInjected = await inject(stored);
  if (isInjected) await refresh(true);
  const timer = repeat(clock, refresh);
  timer.rest(isInjected);
  return {
    certificate: () => stored.certificate,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    paths: {
      accepted: () => computeAccepted(stored.paths, isInjected, clock.now()),
      refresh: async () => void (await refresh()),
      refreshSoon: timer.soon,
      close: timer.close,
    },
  };
}

/** Calls `work` at intervals that depend on its success, and earlier on request. */
function repeat(clock: Clock, work: () => Promise<boolean>) {
  let cancel: Cancel | undefined;
  let closed = false;
  let isBusy = false;
  let finished = clock.elapsed();
  async function run(): Promise<void> {
    isBusy = true;
    const isDone = await work();
    isBusy = false;
    finished = clock.elapsed();
    rest(isDone);
  }
  function arm(pause: Millis): void {
    cancel?.();
    cancel = closed ? undefined : wakeAfter(clock, pause, () => void run());
  }
  const rest = (isDone: boolean) => arm(isDone ? INTERVAL : RETRY);
  return {
    rest,
    soon(): void {
      if (!isBusy && !closed) arm(millis(Math.max(0, SOONEST - (clock.elapsed() - finished))));
    },
    close(): void {
      closed = true;
      cancel?.();
    },
  };
}

type Rotation = 'keep' | 'rotate' | 'start';

/** Returns the contents of the Secret, created or renewed if due. On a conflict the replica reads it again. */
async function obtain(
  options: PathSecretOptions,
  hosts: readonly string[] | undefined,
  rotation: Rotation,
): Promise<Complete> {
  const { client, clock, secret: key, log } = options;
  for (let round = 0; round < ROUNDS; round++) {
    const secret = await client.get(Secret, key);
    const before = readStored(secret, hosts !== undefined);
    const next = await advance(before, { hosts, rotation, now: clock.now() });
    if (next === undefined) return before as Complete;
    const data = writeStored(next);
    const answer =
      secret === undefined
        ? await client.create(Secret, {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { ...key, labels: { 'app.kubernetes.io/part-of': 'lapse' } },
            type: hosts === undefined ? 'Opaque' : 'kubernetes.io/tls',
            data,
          })
        : await client.update(Secret, { ...secret, data: { ...secret.data, ...data } });
    if ('object' in answer) {
      const certificate = next.certificate !== before.certificate;
      const paths = next.paths !== before.paths;
      log.info(
        { secret: `${key.namespace}/${key.name}`, certificate, paths },
        'Secret of the webhook written',
      );
      return next;
    }
    if (answer.kind === 'invalid') throw answer.error;
  }
  throw new Error(`the Secret ${key.namespace}/${key.name} changes too often: another program writes it`);
}

interface Advance {
  readonly hosts: readonly string[] | undefined;
  readonly rotation: Rotation;
  readonly now: Instant;
}

/** Returns undefined if nothing is due. */
async function advance(before: Stored, { hosts, rotation, now }: Advance): Promise<Complete | undefined> {
  const renewed = hosts !== undefined && computeRenewal(before.certificate, hosts, now) !== 'nothing';
  const isDue =
    before.paths === undefined ||
    (rotation !== 'keep' && isRotationDue(before.paths, { now, starting: rotation === 'start', renewed }));
  if (!renewed && !isDue) return undefined;
  const certificate = renewed ? await renew(before.certificate, hosts, now) : before.certificate;
  const paths = isDue ? rotate(before.paths, now) : before.paths!;
  return { paths, ...(certificate === undefined ? {} : { certificate }) };
}
