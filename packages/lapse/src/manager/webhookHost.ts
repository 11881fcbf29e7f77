// The socket of admission reviews: its certificate, the secret part of its path, and the client certificates of API
// servers, all from the configuration.

import type { Clock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import type { Client } from '@lapse/kube/client/client';
import { type Certificate, openAuthority, openCertificate } from '@lapse/runtime/host/certificate';
import { type Host, listen } from '@lapse/runtime/host/listen';
import type { AdmissionFunction } from '@lapse/runtime/host/review';
import {
  openPathSecret,
  openSelfManaged,
  type ReviewPaths,
  type SelfManagedCertificate,
} from '@lapse/runtime/host/selfManaged';
import { webhookHandler } from '@lapse/runtime/host/webhook';
import type { Registry } from '@lapse/runtime/metrics/registry';
import type { BindAddress } from './addresses.ts';
import type { General } from './configuration/general.ts';
import { UsageError } from './usage.ts';

export interface WebhookHostOptions {
  readonly general: General;
  readonly registry: Registry;
  readonly admission: readonly AdmissionFunction[];
  readonly clock: Clock;
  readonly log: Log;
  readonly client: Client;
  /** The namespace of the Secret where `--webhook-secret` names none. */
  readonly namespace: string;
}

/** From files, or self-managed in a Secret. */
export type OwnCertificate = Certificate & Pick<ReviewPaths, 'close'> & Partial<SelfManagedCertificate>;

export interface Closable {
  close(): Promise<void> | void;
}

/** etcd accepts objects of up to 1.5 MiB. The review of an update also contains the old object. */
const MAX_REVIEW = 3 << 20;
export const REVIEW_BOUNDS = { maxBody: MAX_REVIEW, maxBuffered: 2 * MAX_REVIEW, maxInFlight: 32 };

/** From files that another program renews, or self-managed in a Secret. `flag` is the flag that requires it. */
export async function openOwnCertificate(options: WebhookHostOptions, flag: string): Promise<OwnCertificate> {
  const { general, clock, log } = options;
  const { certFile, keyFile, hosts } = general.webhook;
  if (certFile !== undefined && keyFile !== undefined)
    return openCertificate({
      certFile,
      keyFile,
      clock,
      onProblem: (error) => log.warn({ error }, 'the certificate of the webhook cannot be used'),
    }).catch(mistakeIn('webhook-cert-file'));
  const secret = secretOf(options);
  if (secret === undefined || hosts === undefined || hosts.length === 0)
    throw new UsageError(
      `--${flag} needs --webhook-cert-file and --webhook-key-file, or --webhook-secret and --webhook-hosts`,
    );
  return openSelfManaged({ ...secret, hosts });
}

function secretOf({ general, client, clock, log, namespace }: WebhookHostOptions) {
  const { secret, configurations } = general.webhook;
  if (secret === undefined) return undefined;
  const [name = '', where = namespace] = secret.split('/').reverse();
  return { client, clock, log, configurations, secret: { namespace: where, name } };
}

const mistakeIn = (flag: string) => (cause: Error) => {
  throw new UsageError(`--${flag}: ${cause.message}`);
};

/** Does not listen yet. Everything it opens is added to `opened` immediately. */
export async function prepareWebhook(
  options: WebhookHostOptions,
  certificate: OwnCertificate,
  opened: Closable[],
): Promise<(where: BindAddress) => Promise<Host>> {
  const { admission, clock, log, registry, general } = options;
  const clientAuthority = await openClientAuthority(options, opened);
  const paths = await openPaths(options, certificate, opened);
  if (paths === undefined && clientAuthority === undefined)
    throw new UsageError(
      '--webhook-port needs --webhook-secret for the secret part of its path, or --webhook-client-ca-file: otherwise every Pod could ask for reviews',
    );
  const { refuse, handle, onExcess } = webhookHandler({
    functions: admission,
    clock,
    log,
    registry,
    callers: {
      ...(paths === undefined ? {} : { paths }),
      ...(clientAuthority === undefined ? {} : { clientNames: general.webhook.clientNames ?? [] }),
    },
  });
  return (where) =>
    listen({
      refuse,
      handle,
      onExcess,
      ...REVIEW_BOUNDS,
      certificate,
      ...(clientAuthority === undefined ? {} : { clientAuthority }),
      // API servers that do not trust the certificate have an outdated caBundle.
      onConnectionError: () => paths?.refreshSoon(),
      ...where,
    });
}

async function openClientAuthority({ general, clock, log }: WebhookHostOptions, opened: Closable[]) {
  const { clientCAFile, clientNames } = general.webhook;
  if (clientCAFile === undefined) {
    if (clientNames !== undefined)
      throw new UsageError('--webhook-client-names needs --webhook-client-ca-file');
    return undefined;
  }
  const authority = await openAuthority(clientCAFile, {
    clock,
    onProblem: (error) => log.warn({ error }, 'the client authority of the webhook cannot be used'),
  }).catch(mistakeIn('webhook-client-ca-file'));
  opened.push(authority);
  return authority;
}

type Paths = Pick<ReviewPaths, 'accepted' | 'refreshSoon'>;

/** A self-managed certificate includes paths. With files, the paths are in a separate Secret. */
async function openPaths(
  options: WebhookHostOptions,
  { accepted, refreshSoon }: OwnCertificate,
  opened: Closable[],
): Promise<Paths | undefined> {
  if (accepted !== undefined && refreshSoon !== undefined) return { accepted, refreshSoon };
  const secret = secretOf(options);
  if (secret === undefined) return undefined;
  const paths = await openPathSecret(secret);
  opened.push(paths);
  return paths;
}
