// Test kit of this folder: a kind, and the responses of a server for its objects.

import { seededRandom } from '@lapse/base/random';
import type { HttpResponse } from '#api/http';
import { defineKind } from '#api/kind';
import type { KubeObject } from '#api/object';
import { type Client, type ClientOptions, createClient } from './client.ts';
import { inProcessTransport } from './inProcess.ts';
import { bytes, errorResponse, manualClock, type Scripted, scripted } from './testkit.ts';

export interface Job extends KubeObject {
  spec?: { ttlSecondsAfterFinished?: number };
}
export const Job = defineKind<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  resource: 'jobs',
  namespaced: true,
});
export const key = { namespace: 'n', name: 'a' };
export const PATH = '/apis/batch/v1/namespaces/n/jobs';

export const job = (more: object = {}): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'a', namespace: 'n', uid: 'u1', resourceVersion: '5', ...more },
});
export const missing = errorResponse(404, 'NotFound', 'jobs.batch "a" not found', {
  name: 'a',
  group: 'batch',
  kind: 'jobs',
});
export const notServed = errorResponse(
  404,
  'NotFound',
  'the server could not find the requested resource',
  {},
);
export const stale = errorResponse(
  409,
  'Conflict',
  'Operation cannot be fulfilled on jobs.batch "a": the object has been modified',
  { name: 'a', group: 'batch', kind: 'jobs' },
);
export const webhook = errorResponse(409, 'Conflict', 'admission webhook "x" denied the request: no', {
  name: 'a',
});
export const exists = errorResponse(409, 'AlreadyExists', 'jobs.batch "a" already exists', {
  name: 'a',
  kind: 'jobs',
});
export const invalid = errorResponse(422, 'Invalid', 'Job.batch "a" is invalid: spec: Required value', {
  name: 'a',
  causes: [{ field: 'spec' }],
});
export const otherUid = errorResponse(
  422,
  'Invalid',
  'Job.batch "a" is invalid: metadata.uid: field is immutable',
  {
    name: 'a',
    causes: [{ field: 'metadata.uid' }],
  },
);
export const forbidden = errorResponse(403, 'Forbidden', 'jobs.batch "a" is forbidden', {
  name: 'a',
  kind: 'jobs',
});
export const html: HttpResponse = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: bytes('<html>login</html>'),
};

export function setup(
  answers: HttpResponse[],
  options: Partial<ClientOptions> = {},
): { client: Client; server: Scripted } {
  const server = scripted(...answers);
  const client = createClient({
    transport: inProcessTransport(server.handler),
    clock: manualClock(),
    random: seededRandom(1),
    flow: 'none',
    ...options,
  });
  return { client, server };
}
