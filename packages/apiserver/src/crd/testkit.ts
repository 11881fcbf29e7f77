// Test helper: an in-memory server on a virtual clock with a JSON client, and minimal CRDs of widgets.

import { seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { JsonObject } from '@lapse/kube/api/json';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Outbound } from '../admission/webhooks/outbound.ts';
import { createServer } from '../server.ts';
import type { Store } from '../store/store.ts';

export const CRDS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const GROUP = 'toys.example.com';
export const WIDGETS_CRD = `${CRDS_PATH}/widgets.${GROUP}`;
export const WIDGETS = `/apis/${GROUP}/v1/namespaces/default/widgets`;

export interface TestResponse {
  readonly status: number;
  /** Empty when the response is not JSON. */
  readonly body: JsonObject;
  readonly text: string;
  readonly warnings: readonly string[];
}

const PATCHES: Readonly<Record<string, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

export async function startServer(
  options: { store?: Store; clock?: VirtualClock; outbound?: Outbound } = {},
) {
  const clock = options.clock ?? new VirtualClock();
  const unexpected: unknown[] = [];
  const server = await createServer({
    clock,
    random: seededRandom(7),
    ...(options.store ? { store: options.store } : {}),
    ...(options.outbound ? { outbound: options.outbound } : {}),
    onUnexpected: (cause) => unexpected.push(cause),
  });
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return server.handle({
      method,
      path,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: Buffer.from(text) }),
    });
  };
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestResponse> => {
    const response = await send(method, path, body, headers);
    const text = await readAll(response.body);
    const { warning = [] } = response.headers;
    return {
      status: response.status,
      body: text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {},
      text,
      warnings: typeof warning === 'string' ? [warning] : warning,
    };
  };
  return {
    clock,
    server,
    unexpected,
    send,
    ask,
    get: (path: string) => ask('GET', path),
    post: (path: string, body: unknown) => ask('POST', path, body),
    put: (path: string, body: unknown) => ask('PUT', path, body),
    delete: (path: string) => ask('DELETE', path),
    patch: (path: string, body: unknown, type = 'merge') =>
      ask('PATCH', path, body, { 'content-type': PATCHES[type]! }),
    /** Advances the clock and waits for everything that it triggers. */
    wait: (n: number) => clock.advanceTo((clock.now() + seconds(n)) as never, settle),
    settle,
    close: () => server.close(),
  };
}

export type TestServer = Awaited<ReturnType<typeof startServer>>;

/** The server of the current test, after useServer(). */
export let api: TestServer;

/** Starts a server before each test and closes it afterwards. A test fails when a request has an unexpected error. */
export function useServer(): void {
  beforeEach(async () => {
    api = await startServer();
  });
  afterEach(async () => {
    expect(api.unexpected).toEqual([]);
    await api.close();
  });
}

/** Replaces the server of the current test. */
export async function restartServer(options: Parameters<typeof startServer>[0]): Promise<void> {
  api = await startServer(options);
}

/** Creates a CRD and waits until it is served. */
export async function define(made: object): Promise<void> {
  const response = await api.post(CRDS_PATH, made);
  expect(response.body['message']).toBeUndefined();
  await api.get(WIDGETS_CRD);
}

export const statusOf = ({ body }: TestResponse) => (body['status'] ?? {}) as JsonObject;

/** `Established=True/InitialNamesAccepted` */
export const conditionsOf = (response: TestResponse) =>
  ((statusOf(response)['conditions'] ?? []) as JsonObject[]).map(
    (c) => `${c['type']}=${c['status']}/${c['reason']}`,
  );

/** Without a timer, the server works only in microtasks. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

async function readAll(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export const object = (properties: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

export const version = (name: string, schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: schema },
  ...more,
});

/** A CRD for widgets with a version v1 with this schema of spec, or with these versions. */
export function crd(
  what: { spec?: JsonObject; versions?: JsonObject[]; more?: JsonObject; v1?: JsonObject } = {},
) {
  const schema = object({ spec: what.spec ?? object({ size: { type: 'integer' } }) });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: what.versions ?? [version('v1', schema, { storage: true, ...what.v1 })],
      ...what.more,
    },
  };
}

export const widget = (name: string, more: JsonObject = {}, apiVersion = `${GROUP}/v1`) => ({
  apiVersion,
  kind: 'Widget',
  metadata: { name },
  ...more,
});
