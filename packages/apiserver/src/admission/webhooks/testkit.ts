// Test helper: a server with in-process webhooks.

import type { JsonObject } from '@lapse/kube/api/json';
import { expect } from 'vitest';
import { startServer, type TestServer } from '../../crd/testkit.ts';
import type { Outbound } from './outbound.ts';

/** By webhook path: an admission response, a response with another HTTP status, or no response. */
type Answers = Readonly<Record<string, JsonObject | { status: number; response: JsonObject } | 'silence'>>;
type Hook = JsonObject & { phase?: string; at: string };

export interface World {
  readonly api: TestServer;
  /** All admission requests in order, with the path of the webhook. */
  readonly asked: (JsonObject & { at: string })[];
}

const never = new Promise<never>(() => {});
async function* trickle(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(' ');
  await never;
}

export async function withHooks(answers: Answers, ...hooks: Hook[]): Promise<World> {
  const asked: World['asked'] = [];
  const outbound: Outbound = async ({ url, body }) => {
    const at = new URL(url).pathname;
    const { request } = JSON.parse(Buffer.from(body!).toString()) as { request: JsonObject };
    asked.push({ ...request, at });
    const answer = answers[at]!;
    if (answer === 'silence') return { status: 200, headers: {}, body: trickle() };
    const { status, response } = ('response' in answer ? answer : { status: 200, response: answer }) as {
      status: number;
      response: JsonObject;
    };
    const review = {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid: request['uid']!, ...response },
    };
    const bytes = Buffer.from(JSON.stringify(review));
    return {
      status,
      headers: {},
      body: (async function* () {
        yield bytes;
      })(),
    };
  };
  const api = await startServer({ outbound });
  for (const [i, { phase = 'Mutating', at, ...more }] of hooks.entries()) {
    const webhook = {
      name: `hook-${i}.example.com`,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: `https://hooks${at}` },
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      ...more,
    };
    const path = `/apis/admissionregistration.k8s.io/v1/${phase.toLowerCase()}webhookconfigurations`;
    const kind = `${phase}WebhookConfiguration`;
    const configuration = { kind, metadata: { name: `c${i}` }, webhooks: [webhook] };
    expect((await api.post(path, configuration)).status).toBe(201);
  }
  return { api, asked };
}
