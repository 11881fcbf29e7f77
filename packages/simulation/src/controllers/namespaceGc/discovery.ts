// Discovers all served kinds and the groups that cannot be reached. A group whose server is down may have content in the
// namespace, so the namespace is kept until it is available.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { asError } from '@lapse/runtime/outcome';

export interface Discovered {
  readonly kinds: readonly ServedKind[];
  /** Why the list is incomplete. */
  readonly problem?: string;
}

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export async function getDiscovered(client: Client): Promise<Discovered> {
  client.discovery.invalidate();
  try {
    const [kinds, stale] = await Promise.all([client.discovery.all(), getStale(client)]);
    return stale.length === 0 ? { kinds } : { kinds, problem: describeStale(stale) };
  } catch (thrown) {
    return { kinds: [], problem: asError(thrown).message };
  }
}

/** Group versions with stale discovery: their servers cannot be reached. */
async function getStale(client: Client): Promise<string[]> {
  const answer = await client.raw({ method: 'GET', path: '/apis', headers: { accept: ACCEPT } });
  if (answer.status !== 200) throw new Error(`GET /apis answered ${answer.status}`);
  const document = JSON.parse(Buffer.from(answer.body).toString()) as JsonObject;
  return objects(document.items).flatMap((group) => {
    const name = isObject(group.metadata) ? String(group.metadata.name) : '';
    return objects(group.versions)
      .filter(({ freshness }) => freshness === 'Stale')
      .map(({ version }) => `${name}/${String(version)}`);
  });
}

const objects = (json: unknown): JsonObject[] => (Array.isArray(json) ? json.filter(isObject) : []);

const describeStale = (stale: readonly string[]): string => {
  const each = [...stale].sort().map((name) => `${name}: stale GroupVersion discovery: ${name}`);
  return `Discovery failed for some groups, ${stale.length} failing: unable to retrieve the complete list of server APIs: ${each.join(', ')}`;
};
