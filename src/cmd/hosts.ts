// The sockets of a process: health, readiness and metrics on one, admission reviews on another.

import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Client } from '#client/client';
import { type Certificate, openCertificate } from '#runtime/host/certificate';
import { type Host, type HostOptions, listen } from '#runtime/host/listen';
import type { AdmissionFunction } from '#runtime/host/review';
import { openSelfManaged } from '#runtime/host/selfManaged';
import { statusHandler } from '#runtime/host/status';
import { webhookHandler } from '#runtime/host/webhook';
import type { Manager } from '#runtime/manager';
import type { Registry } from '#runtime/metrics/registry';
import { type BindAddress, parseBindAddress } from './addresses.ts';
import type { General } from './configuration/general.ts';
import { UsageError } from './usage.ts';

export interface HostsOptions {
  readonly general: General;
  /** In a Pod probes come from outside; on a desk nobody else should. */
  readonly inCluster: boolean;
  /** Where the status is served on a desk unless told, if that is free; 127.0.0.1:8080 unless told. */
  readonly deskAddress?: string;
  readonly manager: Manager;
  readonly registry: Registry;
  readonly admission: readonly AdmissionFunction[];
  readonly clock: Clock;
  readonly log: Log;
  /** For a certificate of our own, and where its Secret is unless told. */
  readonly client: Client;
  readonly namespace: string;
}

export interface Hosts {
  close(): Promise<void>;
}

export async function openHosts(options: HostsOptions): Promise<Hosts> {
  const opened: { close(): Promise<void> | void }[] = [];
  const close = async () => {
    for (const host of opened.reverse()) await host.close();
  };
  try {
    opened.push(...(await openStatus(options)));
    opened.push(...(await openWebhook(options)));
  } catch (cause) {
    await close();
    throw cause;
  }
  return { close };
}

async function openStatus(options: HostsOptions): Promise<Host[]> {
  const { general, inCluster, manager, registry, log, deskAddress = '127.0.0.1:8080' } = options;
  const flag = 'metrics-bind-address';
  const asked = general.metrics.bindAddress ?? (inCluster ? ':8080' : undefined);
  const where = parseBindAddress(flag, asked ?? deskAddress);
  if (where === undefined) return [];
  const handle = statusHandler({
    readiness: () => manager.readiness(),
    metrics: () => registry.text(),
  });
  try {
    const onError = (error: unknown) => log.error({ error }, 'status request failed');
    const host = await bind(flag, where, { handle, onError });
    log.info({ address: where.address ?? '*', port: host.port }, 'serving /healthz, /readyz and /metrics');
    return [host];
  } catch (cause) {
    if (asked !== undefined || !(cause instanceof UsageError)) throw cause;
    // Nobody asked for it: on a desk another program may well have this port.
    log.warn({ problem: cause.message }, 'not serving /healthz, /readyz and /metrics');
    return [];
  }
}

async function openWebhook(options: HostsOptions): Promise<{ close(): Promise<void> | void }[]> {
  const { general, admission, clock, log, registry } = options;
  const flag = 'webhook-port';
  const where = parseBindAddress(flag, general.webhook.bindAddress ?? '0');
  if (where === undefined) return [];
  const certificate = await openWebhookCertificate(options);
  try {
    const handle = webhookHandler({ functions: admission, clock, log, registry });
    const host = await bind(flag, where, { handle, certificate });
    log.info({ port: host.port, webhooks: admission.map(({ name }) => name) }, 'serving admission reviews');
    return [certificate, host];
  } catch (cause) {
    certificate.close();
    throw cause;
  }
}

/** From files that somebody else renews, or our own in a Secret. */
async function openWebhookCertificate(options: HostsOptions): Promise<Certificate & { close(): void }> {
  const { general, clock, log, client, namespace } = options;
  const { certFile, keyFile, secret, hosts, configurations } = general.webhook;
  if (certFile !== undefined && keyFile !== undefined)
    return openCertificate({
      certFile,
      keyFile,
      clock,
      onProblem: (error) => log.warn({ error }, 'the certificate of the webhook cannot be used'),
    }).catch((cause: Error) => {
      throw new UsageError(`--webhook-cert-file: ${cause.message}`);
    });
  if (secret === undefined || hosts === undefined || hosts.length === 0)
    throw new UsageError(
      '--webhook-port needs --webhook-cert-file and --webhook-key-file, or --webhook-secret and --webhook-hosts',
    );
  const [name = '', where = namespace] = secret.split('/').reverse();
  return openSelfManaged({ client, clock, log, hosts, configurations, secret: { namespace: where, name } });
}

async function bind(
  flag: string,
  where: BindAddress,
  options: Pick<HostOptions, 'handle' | 'certificate' | 'onError'>,
): Promise<Host> {
  try {
    return await listen({ ...options, ...where });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    const taken = code === 'EADDRINUSE' ? `port ${where.port} is taken` : message;
    throw new UsageError(`--${flag}: ${taken}; choose another one, or 0 for none`);
  }
}
