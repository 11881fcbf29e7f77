// Requests to a server about an aggregated API and through it, recorded as text so that two servers can be compared.

import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type Ask, asker } from '../model/ask.ts';
import type { Target } from '../replay/types.ts';
import { type Call, type ExtensionServer, GROUP, SERVICE, startExtensionServer } from './extensionServer.ts';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const NAME = `v1.${GROUP}`;
const BASE = `/apis/${GROUP}/v1`;
const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const PATIENCE_MS = 90_000;

export interface Observation {
  readonly about: string;
  readonly what: unknown;
}

/** Everything that is comparable between servers with extension servers on different ports. */
export async function observeAggregation(target: Target): Promise<Observation[]> {
  const extension = await startExtensionServer();
  const observations: Observation[] = [];
  const record = (about: string, what: unknown) => {
    const text = JSON.stringify(what).replaceAll(`:${extension.port}`, ':PORT');
    observations.push({ about, what: JSON.parse(text) as Json });
  };
  try {
    const session = { ask: asker(target), target, extension, record };
    await refusals(session);
    await registration(session);
    await discovery(session);
    await requests(session);
    await unreachable(session);
    return observations;
  } finally {
    const ask = asker(target);
    await ask('DELETE', `${SERVICES}/${NAME}`);
    await ask('DELETE', `/api/v1/namespaces/default/services/${SERVICE.name}`);
    await extension.close();
  }
}

interface Session {
  readonly ask: Ask;
  readonly target: Target;
  readonly extension: ExtensionServer;
  record(about: string, what: unknown): void;
}

const apiService = (spec: JsonObject, name = NAME): JsonObject => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name },
  spec: { group: GROUP, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15, ...spec },
});

async function refusals({ ask, record }: Session): Promise<void> {
  const refused: [string, JsonObject][] = [
    ['another name', apiService({}, 'v2.example.com')],
    ['no priorities', apiService({ groupPriorityMinimum: 0, versionPriority: 1001 })],
    ['a bad group and version', apiService({ group: 'A_b', version: 'V 1' }, 'V 1.A_b')],
    ['no group', apiService({ group: '', version: 'v2' }, 'v2.')],
    ['trust for itself', apiService({ caBundle: 'YQ==', insecureSkipTLSVerify: true })],
    [
      'half a service',
      apiService({ service: { port: 70_000 }, insecureSkipTLSVerify: true, caBundle: 'YQ==' }),
    ],
  ];
  for (const [about, service] of refused) {
    const { status, body } = await ask('POST', SERVICES, service);
    record(`refused: ${about}`, { status, body });
  }
}

async function registration(session: Session): Promise<void> {
  const { ask, extension, record } = session;
  const { caBundle, port } = extension;
  const made = await ask('POST', SERVICES, apiService({ caBundle, service: { ...SERVICE, port } }));
  record('registered', { status: made.status, body: (made.body as JsonObject)['status'] ?? {} });
  record('without a Service', await condition(session, 'ServiceNotFound'));
  record('asked meanwhile', await plain(session, 'GET', `${BASE}/walls`));
  await ask('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: SERVICE,
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  });
  record('with one', await condition(session, 'Passed'));
}

async function condition({ ask }: Session, reason: string): Promise<unknown> {
  const started = performance.now();
  for (;;) {
    const { body } = await ask('GET', `${SERVICES}/${NAME}`);
    const { conditions = [] } = ((body as JsonObject)['status'] ?? {}) as { conditions?: JsonObject[] };
    const found = conditions.find((one) => one['type'] === 'Available');
    if (found?.['reason'] === reason) {
      const { lastTransitionTime: _, ...rest } = found;
      return rest;
    }
    if (performance.now() - started > PATIENCE_MS)
      throw new Error(`never ${reason}: ${JSON.stringify(found)}`);
    await sleep(100);
  }
}

async function discovery(session: Session): Promise<void> {
  const { target, record } = session;
  const find = (document: Json, list: string, name: (item: JsonObject) => Json | undefined): Json => {
    const items = isObject(document) ? ((document[list] ?? []) as JsonObject[]) : [];
    return items.find((item) => name(item) === GROUP) ?? null;
  };
  const groups = await read(target, '/apis');
  record(
    'the list of groups',
    find(JSON.parse(groups.text) as Json, 'groups', (item) => item['name']),
  );
  record('the group', JSON.parse((await read(target, `/apis/${GROUP}`)).text));
  const version = await read(target, BASE);
  record('the version', JSON.parse(version.text));
  const started = performance.now();
  for (;;) {
    const all = await read(target, '/apis', { accept: V2 });
    const items = JSON.parse(all.text) as Json;
    const entry = find(items, 'items', (item) => (item['metadata'] as JsonObject)['name']);
    const text = JSON.stringify(entry);
    if (text.includes('"Current"') && text.includes('reports')) {
      record('all at once', entry);
      return;
    }
    if (performance.now() - started > PATIENCE_MS) throw new Error(`not discovered: ${text}`);
    await sleep(100);
  }
}

async function requests(session: Session): Promise<void> {
  const { target, extension, record } = session;
  await letJaneSeeWalls(session);
  const asked: [string, string, string, Record<string, string>, string?][] = [
    ['a wall', 'GET', `${BASE}/walls/w?a=1&b=2`, {}],
    ['with a slash behind', 'GET', `${BASE}/walls/w/`, {}],
    ['a name with an escape', 'GET', `${BASE}/walls/a%20b`, {}],
    [
      'a page',
      'GET',
      `${BASE}/namespaces/default/reports/r/pages`,
      { accept: 'text/plain', 'user-agent': 'me' },
    ],
    ['a new wall', 'POST', `${BASE}/walls`, { 'content-type': 'application/json' }, '{"kind":"Wall"}'],
    ['a change', 'PATCH', `${BASE}/walls/w`, { 'content-type': 'application/merge-patch+json' }, '{}'],
    ['an end', 'DELETE', `${BASE}/walls/w`, {}],
    ['a redirect', 'GET', `${BASE}/walls/away`, {}],
    ['headers', 'GET', `${BASE}/walls/teapot`, {}],
    ['pieces', 'GET', `${BASE}/walls/pieces`, { 'accept-encoding': 'gzip' }],
    ['with impersonation', 'GET', `${BASE}/walls/w`, IMPERSONATING],
    ['claiming to be another', 'GET', `${BASE}/walls/w`, CLAIMING],
    ['not allowed', 'GET', `${BASE}/walls/w`, { authorization: `Bearer ${target.nobodyToken}` }],
    ['unknown', 'GET', `${BASE}/walls/w`, { authorization: 'Bearer nonsense' }],
  ];
  for (const [about, method, path, headers, body] of asked) {
    const before = extension.calls.length;
    const response = await plain(session, method, path, headers, body);
    const calls = extension.calls.slice(before).filter((call) => !isOwn(call));
    record(about, { response, calls: calls.map(essence) });
  }
}

async function letJaneSeeWalls({ ask }: Session): Promise<void> {
  const [apiGroup, name] = ['rbac.authorization.k8s.io', 'walls'];
  const made = { apiVersion: `${apiGroup}/v1`, metadata: { name } };
  const rules = [{ apiGroups: [GROUP], resources: ['walls'], verbs: ['get'] }];
  await ask('POST', `/apis/${apiGroup}/v1/clusterroles`, { ...made, kind: 'ClusterRole', rules });
  await ask('POST', `/apis/${apiGroup}/v1/clusterrolebindings`, {
    ...made,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: [{ apiGroup, kind: 'Group', name: 'walkers' }],
  });
  for (let i = 0; i < 100; i++) {
    const spec = {
      user: 'jane',
      groups: ['walkers'],
      resourceAttributes: { group: GROUP, resource: 'walls', verb: 'get' },
    };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const { body } = await ask('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
    if (((body as JsonObject)['status'] as JsonObject)['allowed'] === true) return;
    await sleep(50);
  }
}

const IMPERSONATING = {
  'impersonate-user': 'jane',
  'impersonate-group': 'walkers',
  'impersonate-extra-scopes%2fone': 'view',
};
const CLAIMING = {
  'x-remote-user': 'root',
  'x-remote-group': 'system:masters',
  'x-remote-extra-scopes': 'all',
  'x-other': 'kept',
};

/** Discovery requests of the server itself. */
const isOwn = ({ headers }: Call): boolean =>
  /^system:(kube-)?aggregator$/.test(headers['x-remote-user']?.[0] ?? '');

// Headers of the connection, of Go's client, or about the client's address, which the embedded server does not know.
const INCOMPARABLE = new Set([
  'accept-encoding',
  'audit-id',
  'connection',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
]);

const essence = ({ method, url, headers, body, certified }: Call) => ({
  method,
  url,
  body,
  certified,
  headers: Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !INCOMPARABLE.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ),
});

async function unreachable(session: Session): Promise<void> {
  const { extension, record } = session;
  await extension.close();
  const answers = new Set<string>();
  const started = performance.now();
  // The server notices it after one or two checks.
  while (!answers.has('service unavailable\n') && performance.now() - started < PATIENCE_MS) {
    const { status, text } = await plain(session, 'GET', `${BASE}/walls/w`);
    if (status !== 503) throw new Error(`${status}: ${text}`);
    answers.add(text);
    await sleep(100);
  }
  record('not reachable', [...answers]);
  record('and noticed', await condition(session, 'FailedDiscoveryCheck'));
}

const KEPT = new Set(['content-type', 'x-stranger', 'cache-control', 'x-content-type-options', 'location']);

async function plain(
  { target }: Session,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
) {
  const answer = await read(target, path, headers, { method, ...(body === undefined ? {} : { body }) });
  const seen = Object.entries(answer.headers).filter(([name]) => KEPT.has(name) || name.startsWith('access'));
  return {
    status: answer.status,
    text: answer.text.replace(/\}\n$/, '}'),
    headers: Object.fromEntries(seen.sort()),
  };
}

async function read(
  target: Target,
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', body }: { method?: string; body?: string } = {},
) {
  const response = await target.request({
    method,
    path,
    headers: {
      authorization: `Bearer ${target.adminToken}`,
      'user-agent': 'conformance',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  });
  const chunks: Uint8Array[] = [];
  if (response.body instanceof Uint8Array) chunks.push(response.body);
  else for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, headers: response.headers, text: Buffer.concat(chunks).toString() };
}
