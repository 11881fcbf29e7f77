// Calls one webhook, within its timeout, and parses the response.

import type { Clock } from '@lapse/base/clock';
import { type Millis, millis, plus, seconds } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import type { Call } from '../../context.ts';
import { timeLeft } from '../../http/deadline.ts';
import { number, part, text } from '../../strategies/values.ts';
import { addressOf } from './address.ts';
import type { Phase, Webhook } from './configuration.ts';
import { collect } from './outbound.ts';
import { parseResponse, reviewOf, type WebhookResponse } from './review.ts';

const MAX_BYTES = 10 * 1024 * 1024;

export interface WebhookRequest {
  readonly request: JsonObject;
  readonly uid: string;
}

/** Throws when there is no valid response; the message is shown to clients. */
export async function exchange(
  call: Call,
  { clientConfig, timeoutSeconds }: Webhook,
  { request, uid }: WebhookRequest,
  phase: Phase,
): Promise<WebhookResponse> {
  const { core } = call;
  const limit = millis(Math.min(seconds(timeoutSeconds), timeLeft(call)));
  const timeout = `timeout=${Math.ceil(limit / seconds(1))}s`;
  const post = async (signal: AbortSignal) => {
    const { url, ...address } = addressOf(core.store, clientConfig);
    const response = await core.outbound({
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: Buffer.from(writeJson(reviewOf(request))),
      timeout: limit,
      signal,
      ...address,
      url: withQuery(url, timeout),
    });
    return { status: response.status, body: await collect(response.body, MAX_BYTES) };
  };
  const { status, body } = await within(core.clock, limit, post).catch((cause: Error) => {
    throw new Error(
      `failed to call webhook: Post "${withQuery(shownUrl(clientConfig), timeout)}": ${cause.message}`,
    );
  });
  return parseResponse(readReview(status, body), uid, phase === 'mutating');
}

const withQuery = (url: string, query: string): string => `${url}${url.includes('?') ? '&' : '?'}${query}`;

/** A Service is shown by its name, not by its address. */
function shownUrl(config: JsonObject): string {
  if (text(config, 'url') !== '') return text(config, 'url');
  const service = part(config, 'service');
  const path = text(service, 'path').replace(/^(?=[^/])/, '/');
  return `https://${text(service, 'name')}.${text(service, 'namespace')}.svc:${number(service, 'port') ?? 443}${path}`;
}

/** Limits the whole exchange, including a response body that does not end. */
function within<T>(clock: Clock, limit: Millis, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const controller = new AbortController();
  const cancel = clock.wakeAt(plus(clock.now(), limit), () => {
    reject(new Error('context deadline exceeded'));
    controller.abort();
  });
  run(controller.signal).then(resolve, reject);
  return promise.finally(cancel);
}

function readReview(status: number, body: Uint8Array) {
  const excerpt = Buffer.from(body).toString('utf8').trim().slice(0, 200);
  if (status < 200 || status > 206)
    throw new Error(
      `failed to call webhook: an error on the server (${JSON.stringify(excerpt)}) has prevented the request from succeeding`,
    );
  try {
    return parseJson(body, { maxDepth: 1000 }).value;
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`failed to call webhook: couldn't get version/kind; json parse error: ${why}`);
  }
}
