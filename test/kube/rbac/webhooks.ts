// The webhooks of an installation on a machine without Services: the same configurations, with a loopback address.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Installation } from 'lapse/cli/manifests/installation';
import { buildWebhooks } from 'lapse/cli/manifests/webhooks';

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks: readonly object[];
}

export function localWebhooks(installation: Installation, port: number): KubeObject[] {
  return buildWebhooks(installation)
    .filter(({ kind }) => kind !== 'Service')
    .map((object) => {
      const configuration = object as WebhookConfiguration;
      // The process adds the path.
      const clientConfig = { url: `https://127.0.0.1:${port}` };
      const webhooks = configuration.webhooks.map((webhook) => ({ ...webhook, clientConfig }));
      return { ...configuration, webhooks } as KubeObject;
    });
}

/** The flags with which a process serves them. */
export const webhookFlags = ({ name }: Installation, port: number): string[] => [
  `--webhook-port=127.0.0.1:${port}`,
  `--webhook-secret=${name}-webhook`,
  '--webhook-hosts=127.0.0.1',
  `--webhook-configurations=${name}`,
];
