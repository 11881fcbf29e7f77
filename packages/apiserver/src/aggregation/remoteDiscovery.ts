// Discovery of an aggregated API, as one entry of aggregated discovery. For servers with only legacy discovery, the
// legacy form is requested and converted.

import { seconds } from '@lapse/base/instant';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import { collect, type OutboundResponse } from '../admission/webhooks/outbound.ts';
import { objects, part, text, texts } from '../strategies/values.ts';
import { callRemote, type RemoteTransport } from './call.ts';
import { AGGREGATOR } from './identity.ts';
import type { Registration } from './registration.ts';
import { resolveService } from './resolve.ts';

const WANTED = ['v2', 'v2beta1']
  .map((v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
  .join(',');
const AGGREGATED = /^application\/json;.*\bas=APIGroupDiscoveryList\b/;
const TIMEOUT = seconds(5);
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_DEPTH = 100;

/** An APIVersionDiscovery. Throws when it cannot be fetched. */
export async function fetchVersion(
  transport: RemoteTransport,
  registration: Registration,
): Promise<JsonObject> {
  const { group, version } = registration;
  const all = await ask(transport, registration, '/apis', WANTED);
  if (all.status === 503) throw new Error('non-success response code: 503');
  const document = await parsed(all);
  if (all.status === 200 && AGGREGATED.test(String(all.headers['content-type'] ?? ''))) {
    const found = objects(document, 'items').find((item) => text(part(item, 'metadata'), 'name') === group);
    const entry = objects(found, 'versions').find((item) => text(item, 'version') === version);
    return { version, ...(entry === undefined ? {} : { resources: entryResources(entry) }) };
  }
  const path = `/apis/${group}/${version}`;
  const legacy = await ask(transport, registration, path, 'application/json');
  const list = await parsed(legacy);
  if (legacy.status !== 200) throw new Error(`failed to download legacy discovery for ${path}`);
  return { version, resources: fromLegacy(objects(list, 'resources')) };
}

/** The URL of its OpenAPI document, also valid on servers in front of it; undefined when it has none. */
export async function fetchDocumentUrl(
  transport: RemoteTransport,
  registration: Registration,
): Promise<string | undefined> {
  const index = await ask(transport, registration, '/openapi/v3', 'application/json');
  const paths = part(await parsed(index), 'paths');
  const url = text(part(paths, documentName(registration)), 'serverRelativeURL');
  return index.status === 200 && url.startsWith('/openapi/v3/') ? url : undefined;
}

/** The name in the index of documents. */
export const documentName = ({ group, version }: { group: string; version: string }): string =>
  `apis/${group}/${version}`;

async function ask(
  transport: RemoteTransport,
  registration: Registration,
  path: string,
  accept: string,
): Promise<OutboundResponse> {
  const where = resolveService(transport.store, registration.service);
  if (where.kind === 'missing') throw new Error(where.message);
  return callRemote(transport, registration, where, {
    method: 'GET',
    path,
    user: AGGREGATOR,
    headers: { accept },
    timeout: TIMEOUT,
  });
}

/** Empty when the body is not a JSON object. */
async function parsed({ body }: OutboundResponse): Promise<JsonObject> {
  const bytes = await collect(body, MAX_BYTES);
  try {
    const { value } = parseJson(bytes, { maxDepth: MAX_DEPTH });
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

const NO_KIND = { group: '', version: '', kind: '' };

/** Some client versions fail on a resource without a kind. */
const entryResources = (entry: JsonObject): JsonObject[] =>
  objects(entry, 'resources').map((resource) => ({
    responseKind: NO_KIND,
    ...resource,
    ...(resource['subresources'] === undefined
      ? {}
      : {
          subresources: objects(resource, 'subresources').map((sub) => ({ responseKind: NO_KIND, ...sub })),
        }),
  }));

/**
 * Moves subresources into their resource; the legacy form lists them next to it. No group means that of the document.
 */
function fromLegacy(listed: readonly JsonObject[]): JsonObject[] {
  const kindOf = (item: JsonObject): JsonObject => ({
    group: text(item, 'group'),
    version: text(item, 'version'),
    kind: text(item, 'kind'),
  });
  const resources = new Map<string, JsonObject>();
  const resourceFor = (name: string, item: JsonObject): JsonObject => {
    const known = resources.get(name);
    if (known) return known;
    const made = { resource: name, scope: item['namespaced'] === true ? 'Namespaced' : 'Cluster' };
    resources.set(name, made);
    return made;
  };
  for (const item of listed) {
    const [name = '', subresource] = text(item, 'name').split('/', 2);
    const resource = resourceFor(name, item);
    if (subresource === undefined) Object.assign(resource, mainFields(item), { responseKind: kindOf(item) });
    else {
      const below = { subresource, responseKind: kindOf(item), verbs: texts(item, 'verbs') };
      resource['subresources'] = [...objects(resource, 'subresources'), below];
      resource['responseKind'] ??= NO_KIND;
      resource['verbs'] ??= [];
    }
  }
  return [...resources.values()];
}

const mainFields = (item: JsonObject): JsonObject => ({
  singularResource: text(item, 'singularName'),
  verbs: texts(item, 'verbs'),
  ...(texts(item, 'shortNames').length > 0 ? { shortNames: texts(item, 'shortNames') } : {}),
  ...(texts(item, 'categories').length > 0 ? { categories: texts(item, 'categories') } : {}),
});
