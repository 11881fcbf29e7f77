// A certificate nobody has to look after: an authority of our own and a leaf signed by it, kept in a Secret that all
// replicas share, renewed before they expire, and told to the webhook configurations as their caBundle. Whoever is first
// writes; the others read what was written.

import { defineKind, type Kind, type ObjectKey } from '#api/kind';
import { Secret } from '#api/kinds/builtin';
import type { KubeObject } from '#api/object';
import { isGoodFor, issueCertificate, makeAuthority, type Pem } from '#base/certificates';
import type { Cancel, Clock } from '#base/clock';
import { hours, type Instant, type Millis, minutes } from '#base/instant';
import type { Log } from '#base/log';
import { wakeAfter } from '#base/monotonic';
import type { Client } from '#client/client';
import { asError } from '../outcome.ts';
import type { Certificate, KeyPair } from './certificate.ts';

export interface SelfManagedOptions {
  /** Not `leaderOnly`: every replica answers reviews. */
  readonly client: Pick<Client, 'get' | 'create' | 'update'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly secret: Required<ObjectKey>;
  /** What API servers call us: `lapse.lapse-system.svc`. */
  readonly hosts: readonly string[];
  /** Names of webhook configurations, of either kind, whose caBundles are ours to set. */
  readonly configurations: readonly string[];
}

export interface SelfManagedCertificate extends Certificate {
  /** What callers must trust: PEM, the present authority first. */
  caBundle(): string;
  /** Looks now instead of at the next interval. */
  look(): Promise<void>;
  close(): void;
}

const AUTHORITY_LIFETIME = hours(2 * 365 * 24);
const AUTHORITY_SPARE = hours(180 * 24);
const LEAF_LIFETIME = hours(90 * 24);
const LEAF_SPARE = hours(30 * 24);
const INTERVAL = hours(1);
const RETRY = minutes(1);
const ROUNDS = 5;

/** As it is stored. `bundle` has every authority whose leaves may still be in use. */
interface Stored {
  readonly authority: Pem;
  readonly bundle: string;
  readonly leaf: Pem;
}

export type Renewal = 'nothing' | 'leaf' | 'everything';

/** What has to be made anew. */
export function computeRenewal(stored: Stored | undefined, hosts: readonly string[], now: Instant): Renewal {
  if (stored === undefined || !isGoodFor(stored.authority.cert, [], now, AUTHORITY_SPARE))
    return 'everything';
  return isGoodFor(stored.leaf.cert, hosts, now, LEAF_SPARE) ? 'nothing' : 'leaf';
}

const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString();
const encode = (text: string): string => Buffer.from(text).toString('base64');

function readStored({ data = {} }: Secret): Stored | undefined {
  const field = (name: string) => decode(data[name]);
  const stored = {
    authority: { cert: field('authority.crt'), key: field('authority.key') },
    bundle: field('ca.crt'),
    leaf: { cert: field('tls.crt'), key: field('tls.key') },
  };
  const texts = [...Object.values(stored.authority), stored.bundle, ...Object.values(stored.leaf)];
  return texts.every((text) => text !== '') ? stored : undefined;
}

const writeStored = ({ authority, bundle, leaf }: Stored): Record<string, string> => ({
  'authority.crt': encode(authority.cert),
  'authority.key': encode(authority.key),
  'ca.crt': encode(bundle),
  'tls.crt': encode(leaf.cert),
  'tls.key': encode(leaf.key),
});

async function renew(before: Stored | undefined, hosts: readonly string[], now: Instant): Promise<Stored> {
  const isNew = computeRenewal(before, hosts, now) === 'everything';
  const authority =
    isNew || before === undefined
      ? await makeAuthority('lapse-webhook-ca', now, AUTHORITY_LIFETIME)
      : before.authority;
  const leaf = await issueCertificate({ authority, hosts, name: hosts[0]!, now, lifetime: LEAF_LIFETIME });
  // Leaves of the authority before are in use until every replica has looked.
  const older = before === undefined ? [] : [before.authority.cert];
  const bundle = [...new Set([authority.cert, ...older])].map((pem) => `${pem.trim()}\n`).join('');
  return { authority, bundle, leaf };
}

interface WebhookConfiguration extends KubeObject {
  webhooks?: { clientConfig?: { caBundle?: string } }[];
}
const configurationKind = (kind: string): Kind<WebhookConfiguration> =>
  defineKind<WebhookConfiguration>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced: false,
  });
const CONFIGURATIONS = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map(
  configurationKind,
);

/** Throws when there is no certificate to begin with; later problems are logged, and the pair before stays. */
export async function openSelfManaged(options: SelfManagedOptions): Promise<SelfManagedCertificate> {
  const { clock, log } = options;
  let stored = await obtain(options);
  let cancel: Cancel | undefined;
  let closed = false;
  const listeners = new Set<(pair: KeyPair) => void>();

  async function refresh(): Promise<boolean> {
    try {
      const next = await obtain(options);
      // Callers trust the new authority before anybody shows them its leaf.
      const told = await tell(options, next.bundle);
      const isNews = next.leaf.cert !== stored.leaf.cert;
      stored = next;
      if (isNews) for (const listener of listeners) listener(next.leaf);
      return told;
    } catch (error) {
      log.warn({ error: asError(error) }, 'the certificate of the webhook could not be looked after');
      return false;
    }
  }
  function arm(pause: Millis): void {
    if (!closed) cancel = wakeAfter(clock, pause, () => void refresh().then(rest));
  }
  const rest = (went: boolean) => arm(went ? INTERVAL : RETRY);
  rest(await tell(options, stored.bundle));
  return {
    current: () => stored.leaf,
    caBundle: () => stored.bundle,
    look: async () => void (await refresh()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      cancel?.();
    },
  };
}

/** What is in the Secret, made or renewed when it has to be. A race is lost by reading again. */
async function obtain(options: SelfManagedOptions): Promise<Stored> {
  const { client, clock, hosts, secret: key, log } = options;
  for (let round = 0; round < ROUNDS; round++) {
    const secret = await client.get(Secret, key);
    const before = secret === undefined ? undefined : readStored(secret);
    const renewal = computeRenewal(before, hosts, clock.now());
    if (before !== undefined && renewal === 'nothing') return before;
    const next = await renew(before, hosts, clock.now());
    const data = writeStored(next);
    const answer =
      secret === undefined
        ? await client.create(Secret, {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { ...key, labels: { 'app.kubernetes.io/part-of': 'lapse' } },
            type: 'kubernetes.io/tls',
            data,
          })
        : await client.update(Secret, { ...secret, data: { ...secret.data, ...data } });
    if ('object' in answer) {
      log.info({ secret: `${key.namespace}/${key.name}`, renewal }, 'webhook certificate made');
      return next;
    }
    if (answer.kind === 'invalid') throw answer.error;
  }
  throw new Error(`the Secret ${key.namespace}/${key.name} is changed by others all the time`);
}

/** False: some configuration could not be told; it is tried again soon. One that does not exist needs nothing. */
async function tell(options: SelfManagedOptions, bundle: string): Promise<boolean> {
  let told = true;
  for (const kind of CONFIGURATIONS)
    for (const name of options.configurations)
      try {
        told = (await inject(options, kind, name, encode(bundle))) && told;
      } catch (error) {
        options.log.warn({ kind: kind.kind, name, error: asError(error) }, 'the caBundle could not be set');
        told = false;
      }
  return told;
}

async function inject(
  { client, log }: SelfManagedOptions,
  kind: Kind<WebhookConfiguration>,
  name: string,
  caBundle: string,
): Promise<boolean> {
  const found = await client.get(kind, { name });
  const { webhooks = [] } = found ?? {};
  if (found === undefined || webhooks.every(({ clientConfig }) => clientConfig?.caBundle === caBundle))
    return true;
  const next = webhooks.map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle } }));
  const answer = await client.update(kind, { ...found, webhooks: next });
  if ('object' in answer) log.info({ kind: kind.kind, name }, 'caBundle set');
  return 'object' in answer;
}
