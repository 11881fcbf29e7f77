// Keeps the caBundle of the APIService up to date. A new certificate is served only after its authority is in the
// caBundle, so that the kube-apiserver trusts the server at all times. A missing APIService is not an error; it is checked
// every minute.

import type { Cancel, Clock } from '@lapse/base/clock';
import { hours, type Millis, minutes } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import { wakeAfter } from '@lapse/base/monotonic';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { Certificate, KeyPair } from '../host/certificate.ts';
import { asError } from '../outcome.ts';

interface ApiServiceObject extends KubeObject {
  spec?: { caBundle?: string; insecureSkipTLSVerify?: boolean; service?: object };
}
const ApiService = defineKind<ApiServiceObject>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  resource: 'apiservices',
  namespaced: false,
});

/** `v1alpha1.example.com`. */
export const apiServiceName = ({ group, version }: { group: string; version: string }): string =>
  `${version}.${group}`;

export interface RegistrationOptions {
  readonly client: Pick<Client, 'get' | 'update'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The name of the APIService. */
  readonly name: string;
  readonly certificate: Certificate & { caBundle(): string };
}

export interface RegisteredCertificate extends Certificate {
  /** Checks the APIService now instead of at the next interval. */
  refresh(): Promise<void>;
  close(): void;
}

const INTERVAL = hours(1);
const RETRY = minutes(1);

/** Returns the certificate that may be served: its authority is in the caBundle. */
export async function openRegistration(options: RegistrationOptions): Promise<RegisteredCertificate> {
  const { clock, log, certificate, name } = options;
  let shown: KeyPair = certificate.current();
  let cancel: Cancel | undefined;
  let closed = false;
  const listeners = new Set<(pair: KeyPair) => void>();

  async function refresh(): Promise<boolean> {
    const next = certificate.current();
    let isThere: boolean;
    try {
      isThere = await inject(options, encode(certificate.caBundle()));
    } catch (error) {
      log.warn({ apiService: name, error: asError(error) }, 'the caBundle could not be set');
      return false;
    }
    if (next.cert !== shown.cert) {
      shown = next;
      for (const listener of listeners) listener(next);
    }
    return isThere;
  }
  const arm = (pause: Millis) => {
    if (!closed) cancel = wakeAfter(clock, pause, () => void refresh().then(rest));
  };
  const rest = (isInjected: boolean) => arm(isInjected ? INTERVAL : RETRY);
  const unsubscribe = certificate.onChange(() => {
    cancel?.();
    void refresh().then(rest);
  });
  rest(await refresh());
  return {
    current: () => shown,
    refresh: async () => void (await refresh()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      unsubscribe();
      cancel?.();
    },
  };
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** Returns false if the APIService does not exist. */
async function inject({ client, log, name }: RegistrationOptions, caBundle: string): Promise<boolean> {
  const found = await client.get(ApiService, { name });
  if (found === undefined) return false;
  // The kube-apiserver itself serves an APIService without spec.service.
  if (found.spec?.service === undefined || found.spec.caBundle === caBundle) return true;
  const { insecureSkipTLSVerify: _, ...spec } = found.spec;
  const answer = await client.update(ApiService, { ...found, spec: { ...spec, caBundle } });
  if (!('object' in answer)) throw answer.error;
  log.info({ apiService: name }, 'caBundle set');
  return true;
}
