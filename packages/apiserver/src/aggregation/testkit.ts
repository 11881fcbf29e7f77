// Test helper: an in-memory server with an aggregated API in the same process, on a virtual clock.

import { seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { afterEach, expect } from 'vitest';
import { noOutbound, type OutboundRequest } from '../admission/webhooks/outbound.ts';
import { type ApiServer, createServer, type ServerOptions } from '../server.ts';
import { localOutbound } from './localOutbound.ts';

export const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
export const BASE = '/apis/demo.example.com/v1';
const json = (value: object, status = 200, type = 'application/json'): HttpResponse => ({
  status,
  headers: { 'content-type': type },
  body: Buffer.from(JSON.stringify(value)),
});

export const RESOURCES = [
  { name: 'reports', singularName: 'report', namespaced: true, kind: 'Report', verbs: ['get'] },
  { name: 'reports/pages', singularName: '', namespaced: true, kind: 'Report', verbs: ['get'] },
];

export const DOCUMENT = '/openapi/v3/apis/demo.example.com/v1';

/** A server with only legacy discovery. */
export function demo({ path }: HttpRequest): HttpResponse {
  if (path === BASE)
    return json({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'demo.example.com/v1',
      resources: RESOURCES,
    });
  if (path === '/openapi/v3')
    return json({
      paths: {
        'apis/demo.example.com/v1': { serverRelativeURL: `${DOCUMENT}?hash=1` },
        'api/v1': { serverRelativeURL: '/mine' },
      },
    });
  if (path.startsWith(DOCUMENT)) return json({ openapi: '3.0.0' });
  if (path === '/apis') return json({ kind: 'APIGroupList', groups: [] });
  if (path.split('?')[0]!.endsWith('/reports/r')) return json({ kind: 'Report', metadata: { name: 'r' } });
  if (path.endsWith('/away')) return { ...json({}, 302), headers: { location: 'https://example.org/' } };
  return json({ kind: 'Status', code: 404, message: 'theirs' }, 404);
}

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

export async function start(
  response: (request: HttpRequest) => HttpResponse = demo,
  options: ServerOptions = {},
) {
  const clock = new VirtualClock();
  const unexpected: unknown[] = [];
  const calls: OutboundRequest[] = [];
  const world = { response };
  const local = localOutbound({ 'demo.apis.svc': async (request) => world.response(request) }, noOutbound);
  const server: ApiServer = await createServer({
    clock,
    random: seededRandom(3),
    outbound: async (call) => {
      calls.push(call);
      return local(call);
    },
    onUnexpected: (cause) => unexpected.push(cause),
    ...options,
  });
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await server.handle({
      method,
      path,
      headers: {
        ...(options.authenticator ? { authorization: 'Bearer root' } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const text = await readAll(response.body);
    return {
      ...response,
      text,
      body: (text.startsWith('{') ? JSON.parse(text) : {}) as JsonObject,
    };
  };
  stop = async () => {
    await server.close();
    expect(unexpected).toEqual([]);
  };
  return {
    ask,
    calls,
    world,
    settle,
    open: (path: string) => server.handle({ method: 'GET', path, headers: { 'accept-encoding': 'gzip' } }),
    get: (path: string, headers?: Record<string, string>) => ask('GET', path, undefined, headers),
    wait: (n: number) => clock.advanceTo((clock.now() + seconds(n)) as never, settle),
  };
}
type World = Awaited<ReturnType<typeof start>>;

export async function settle(): Promise<void> {
  for (let i = 0; i < 200; i++) await Promise.resolve();
}

async function readAll(body: HttpResponse['body']): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export const apiService = (spec: JsonObject = {}, name = 'v1.demo.example.com') => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name },
  spec: {
    group: 'demo.example.com',
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    service: { name: 'demo', namespace: 'apis' },
    ...spec,
  },
});

export const service = (spec: JsonObject) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'demo', namespace: 'apis' },
  spec,
});
const EXTERNAL = { type: 'ExternalName', externalName: 'demo.internal' };

export async function register(world: World, spec: JsonObject = {}, where: JsonObject | null = EXTERNAL) {
  await world.ask('POST', '/api/v1/namespaces', { metadata: { name: 'apis' } });
  if (where) await world.ask('POST', '/api/v1/namespaces/apis/services', service(where));
  const made = await world.ask('POST', SERVICES, apiService(spec));
  await settle();
  return made;
}

export const condition = async (world: World) => {
  const { body } = await world.get(`${SERVICES}/v1.demo.example.com`);
  const [one] = ((body['status'] as JsonObject)['conditions'] ?? []) as JsonObject[];
  const { status, reason, message } = one ?? {};
  return { status, reason, message };
};
