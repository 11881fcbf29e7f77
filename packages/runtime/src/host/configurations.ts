// Injects the caBundle and the secret part of the path into Lapse's webhook configurations. Helm and `kubectl apply` do
// not overwrite these fields, because the chart does not contain them.

import type { Log } from '@lapse/base/log';
import { defineKind, type Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { asError } from '../outcome.ts';
import { parseReviewPath, reviewPath } from './reviewPaths.ts';

export interface ConfiguredWebhook {
  readonly name: string;
  readonly clientConfig?: ClientConfig;
}

interface ClientConfig {
  readonly caBundle?: string;
  readonly url?: string;
  readonly service?: { readonly path?: string; readonly [field: string]: unknown };
}

export interface Injection {
  /** PEM. Unset: another program, such as cert-manager, sets the caBundle. */
  readonly bundle?: string;
  /** The secret part of the path. */
  readonly secret: string;
}

interface WebhookConfiguration extends KubeObject {
  webhooks?: ConfiguredWebhook[];
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
const ROUNDS = 3;

/** The admission function of a webhook: named by the path below /review/, otherwise by the first label of its name. */
const functionOf = (name: string, path: string): string | undefined =>
  path === '' || path === '/' ? name.split('.')[0] : parseReviewPath(path)?.name;

/** Returns the webhook with the injected fields. A webhook with a path that is not Lapse's is not changed. */
export function computeWebhook<W extends ConfiguredWebhook>(webhook: W, { bundle, secret }: Injection): W {
  const { name, clientConfig = {} } = webhook;
  const { service, url } = clientConfig;
  if (service === undefined && url === undefined) return webhook;
  const path = service === undefined ? new URL(url!).pathname : (service.path ?? '');
  const fn = functionOf(name, path);
  if (fn === undefined) return webhook;
  const called = reviewPath(fn, secret);
  const address =
    service === undefined
      ? { url: `${new URL(url!).origin}${called}` }
      : { service: { ...service, path: called } };
  const trust = bundle === undefined ? {} : { caBundle: Buffer.from(bundle).toString('base64') };
  return { ...webhook, clientConfig: { ...clientConfig, ...address, ...trust } };
}

export interface InjectOptions {
  readonly client: Pick<Client, 'get' | 'update'>;
  readonly log: Log;
  /** Names of validating or mutating webhook configurations. Missing ones are ignored. */
  readonly configurations: readonly string[];
}

/** Returns false if a configuration could not be updated; the caller retries. */
export async function injectAll(options: InjectOptions, injection: Injection): Promise<boolean> {
  let isDone = true;
  for (const kind of CONFIGURATIONS)
    for (const name of options.configurations)
      try {
        isDone = (await inject(options, { kind, name }, injection)) && isDone;
      } catch (error) {
        options.log.warn(
          { kind: kind.kind, name, error: asError(error) },
          'webhook configuration could not be updated',
        );
        isDone = false;
      }
  return isDone;
}

async function inject(
  { client, log }: InjectOptions,
  { kind, name }: { kind: Kind<WebhookConfiguration>; name: string },
  injection: Injection,
): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    const found = await client.get(kind, { name });
    const { webhooks = [] } = found ?? {};
    const next = webhooks.map((webhook) => computeWebhook(webhook, injection));
    if (found === undefined || webhooks.every((webhook, at) => isSame(webhook, next[at]!))) return true;
    const answer = await client.update(kind, { ...found, webhooks: next });
    if ('object' in answer) {
      log.info({ kind: kind.kind, name }, 'webhook configuration updated');
      return true;
    }
    if (answer.kind === 'invalid') throw answer.error;
  }
  return false;
}

const addressOf = ({ clientConfig: { caBundle, url, service } = {} }: ConfiguredWebhook): string =>
  JSON.stringify([caBundle, url, service?.path]);
const isSame = (a: ConfiguredWebhook, b: ConfiguredWebhook): boolean => addressOf(a) === addressOf(b);
