// Opens the sockets of a process: health, readiness and metrics on one, admission reviews on another, and an
// aggregated API on a third. The last two share a certificate.

import { ApiError } from '@lapse/kube/api/status';
import type { AggregatedApi } from '@lapse/runtime/aggregated/api';
import { openAggregatedHost } from '@lapse/runtime/aggregated/host';
import { apiServiceName, openRegistration } from '@lapse/runtime/aggregated/registration';
import { NoFrontProxyError } from '@lapse/runtime/aggregated/requestHeader';
import type { Certificate } from '@lapse/runtime/host/certificate';
import { type Host, listen } from '@lapse/runtime/host/listen';
import { UnsafeNodeError } from '@lapse/runtime/host/resumption';
import { statusHandler } from '@lapse/runtime/host/status';
import type { Manager } from '@lapse/runtime/manager';
import { type BindAddress, parseBindAddress } from './addresses.ts';
import { UsageError } from './usage.ts';
import {
  type Closable,
  type OwnCertificate,
  openOwnCertificate,
  prepareWebhook,
  type WebhookHostOptions,
} from './webhookHost.ts';

export interface HostsOptions extends WebhookHostOptions {
  /** In a Pod, probes come from outside. On a workstation, only local processes should connect. */
  readonly inCluster: boolean;
  /** Where the status is served on a workstation by default, if the port is free. Default: 127.0.0.1:8080. */
  readonly localAddress?: string;
  readonly manager: Manager;
  /** Served at `--api-port`. */
  readonly api?: AggregatedApi;
}

export interface Hosts {
  close(): Promise<void>;
}

export async function openHosts(options: HostsOptions): Promise<Hosts> {
  const opened: Closable[] = [];
  const close = async () => {
    for (const host of opened.reverse()) await host.close();
  };
  try {
    opened.push(...(await openStatus(options)));
    await openCertified(options, opened);
  } catch (cause) {
    await close();
    throw cause;
  }
  return { close };
}

async function openStatus(options: HostsOptions): Promise<Host[]> {
  const { general, inCluster, manager, registry, log, localAddress = '127.0.0.1:8080' } = options;
  const flag = 'metrics-bind-address';
  const asked = general.metrics.bindAddress ?? (inCluster ? ':8080' : undefined);
  const where = parseBindAddress(flag, asked ?? localAddress);
  if (where === undefined) return [];
  const handle = statusHandler({
    readiness: () => manager.readiness(),
    metrics: () => registry.text(),
  });
  try {
    const onError = (error: unknown) => log.error({ error }, 'status request failed');
    const host = await bound(flag, where, () => listen({ handle, onError, ...where }));
    log.info({ address: where.address ?? '*', port: host.port }, 'serving /healthz, /readyz and /metrics');
    return [host];
  } catch (cause) {
    if (asked !== undefined || !(cause instanceof UsageError)) throw cause;
    // Not configured explicitly: on a workstation another program may use this port.
    log.warn({ problem: cause.message }, 'not serving /healthz, /readyz and /metrics');
    return [];
  }
}

/** Opens the sockets that need a certificate, and the certificate. Each is added to `opened` immediately. */
async function openCertified(options: HostsOptions, opened: Closable[]): Promise<void> {
  const { general, log } = options;
  const webhook = parseBindAddress('webhook-port', general.webhook.bindAddress ?? '0');
  const api = parseBindAddress('api-port', general.api.bindAddress ?? '0');
  if (api !== undefined && options.api === undefined)
    log.warn({}, '--api-port: no controller that was selected brings an API');
  const served =
    api === undefined || options.api === undefined ? undefined : { api: options.api, where: api };
  if (webhook === undefined && served === undefined) return;
  const certificate = await openOwnCertificate(options, webhook === undefined ? 'api-port' : 'webhook-port');
  opened.push(certificate);
  if (webhook !== undefined) {
    const open = await prepareWebhook(options, certificate, opened);
    const host = await bound('webhook-port', webhook, () => open(webhook));
    opened.push(host);
    const webhooks = options.admission.map(({ name }) => name);
    log.info({ port: host.port, webhooks }, 'serving admission reviews');
  }
  if (served !== undefined) await openApi(options, { ...served, certificate }, opened);
}

interface ApiParts {
  readonly api: AggregatedApi;
  readonly where: BindAddress;
  readonly certificate: OwnCertificate;
}

/** A self-managed CA is published to the API server before the API server connects. */
async function openApi(options: HostsOptions, parts: ApiParts, opened: Closable[]): Promise<void> {
  const { client, clock, log } = options;
  const { api, where, certificate } = parts;
  let shown: Certificate = certificate;
  const { caBundle } = certificate;
  if (caBundle !== undefined) {
    const name = apiServiceName(api);
    const own = { ...certificate, caBundle };
    const registered = await openRegistration({ client, clock, log, name, certificate: own });
    opened.push(registered);
    shown = registered;
  }
  const host = await bound('api-port', where, () =>
    openAggregatedHost({ api, client, clock, log, certificate: shown, ...where }).catch(explainApi),
  );
  opened.push(host);
  log.info({ port: host.port, group: api.group, version: api.version }, 'serving an aggregated API');
}

function explainApi(cause: unknown): never {
  if (cause instanceof NoFrontProxyError || cause instanceof UnsafeNodeError)
    throw new UsageError(`--api-port: ${cause.message}`);
  if (cause instanceof ApiError && cause.code === 403)
    throw new UsageError(
      `--api-port: ${cause.message}; bind the Role extension-apiserver-authentication-reader in kube-system`,
    );
  throw cause;
}

/** Turns a system error about an address into a usage error about the flag. */
async function bound(flag: string, where: BindAddress, open: () => Promise<Host>): Promise<Host> {
  try {
    return await open();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (typeof code !== 'string') throw cause;
    const taken = code === 'EADDRINUSE' ? `port ${where.port} is taken` : message;
    throw new UsageError(`--${flag}: ${taken}; choose another one, or 0 for none`);
  }
}
