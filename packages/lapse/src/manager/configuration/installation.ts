// Reads the configuration of the installation in a cluster from a ConfigMap, which the chart, `lapse manifests` and
// `lapse up` write. Read-only commands (plan, explain, simulate, doctor) find it by its label, so that they forecast
// what that installation does. --config replaces it.

import type { JsonObject } from '@lapse/kube/api/json';
import { keyOf } from '@lapse/kube/api/kind';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { ApiError } from '@lapse/kube/api/status';
import { type Client, objectOf } from '@lapse/kube/client/client';
import type { Family } from '#controllers/family';
import { loadConfiguration, type Sources } from './load.ts';

/** On the ConfigMap, with the value "true". */
export const CONFIGURATION_LABEL = 'lapse.dev/configuration';
const DATA_KEY = 'lapse.yaml';

export interface FoundInstallation extends NonNullable<Sources['installation']> {
  readonly namespace: string;
}

/** `say` receives messages for the user about the search. */
export async function loadForCluster(
  families: readonly Family[],
  sources: Sources,
  client: Client,
  say: (text: string) => void,
): Promise<JsonObject> {
  const found = sources.file === undefined ? await findInstallation(client, say) : undefined;
  if (found === undefined) return loadConfiguration(families, sources);
  const { name, text } = found;
  return loadConfiguration(families, { ...sources, installation: { name, text } });
}

/** Undefined: not found, not readable, or several. */
export async function findInstallation(
  client: Client,
  say: (text: string) => void,
): Promise<FoundInstallation | undefined> {
  try {
    const { items } = await client.list(ConfigMap, { labelSelector: `${CONFIGURATION_LABEL}=true` });
    const [first, second] = items.flatMap((map): FoundInstallation[] => {
      const text = map.data?.[DATA_KEY];
      const { namespace = '', name } = keyOf(map);
      return text === undefined ? [] : [{ name: `ConfigMap ${namespace}/${name}`, namespace, text }];
    });
    if (second === undefined) return first;
    say(`${first!.name} and ${second.name} both configure Lapse: none is used; choose one with --config`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    say(`the configuration of the installation cannot be read: ${error.message}; choose one with --config`);
  }
  return undefined;
}

/** Where `lapse up` writes it: in a namespace that exists on every API server. */
const OF_UP = { name: 'lapse', namespace: 'kube-system' };

export async function recordInstallation(client: Client, text: string): Promise<void> {
  const content: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...OF_UP, labels: { [CONFIGURATION_LABEL]: 'true' } },
    data: { [DATA_KEY]: text },
  };
  objectOf(await client.apply(ConfigMap, content, { fieldManager: 'lapse-up', force: true }));
}
