// The webhooks of an installation on a machine without Services: the same configurations, with a loopback address.

import type { KubeObject } from '#api/object';
import type { Installation } from '#cmd/manifests/installation';
import { buildWebhooks } from '#cmd/manifests/webhooks';

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
}

export function localWebhooks(installation: Installation, port: number): KubeObject[] {
  return buildWebhooks(installation)
    .filter(({ kind }) => kind !== 'Service')
    .map((object) => {
      const configuration = object as WebhookConfiguration;
      const webhooks = configuration.webhooks.map((webhook) => {
        const url = `https://127.0.0.1:${port}${webhook.clientConfig.service.path}`;
        return { ...webhook, clientConfig: { url } };
      });
      return { ...configuration, webhooks } as KubeObject;
    });
}

/** The flags with which a process answers them. */
export const webhookFlags = ({ name }: Installation, port: number): string[] => [
  `--webhook-port=127.0.0.1:${port}`,
  `--webhook-secret=${name}-webhook`,
  '--webhook-hosts=127.0.0.1',
  `--webhook-configurations=${name}`,
];
