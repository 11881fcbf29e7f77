// Admission functions behind HTTPS: `POST /review/<name>` with an AdmissionReview. A function that throws or takes too
// long is answered with an HTTP error, so that the failure policy of the webhook configuration decides, not we.

import type { HttpHandler, HttpResponse } from '#api/http';
import { writeJson } from '#api/jsonWrite';
import type { Clock } from '#base/clock';
import { type Millis, millis, seconds } from '#base/instant';
import type { Log } from '#base/log';
import { wakeAfter } from '#base/monotonic';
import { parseBytes } from '#client/codec';
import type { Registry } from '../metrics/registry.ts';
import { asError } from '../outcome.ts';
import { text } from './listen.ts';
import {
  type AdmissionAnswer,
  type AdmissionFunction,
  type AdmissionRequest,
  buildReview,
  parseReview,
  ReviewError,
} from './review.ts';

export interface WebhookOptions {
  readonly functions: readonly AdmissionFunction[];
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  /** Longest review; 10 s unless told, as API servers wait. */
  readonly timeout?: Millis;
}

const PREFIX = '/review/';

/** Where a function is served. */
export const reviewPath = (name: string): string => `${PREFIX}${name}`;

export function webhookHandler(options: WebhookOptions): HttpHandler {
  const { functions, registry, log } = options;
  const byPath = new Map(functions.map((fn) => [reviewPath(fn.name), fn]));
  if (byPath.size !== functions.length) throw new Error('two admission functions have the same name');
  const total = registry.counter('lapse_webhook_reviews_total', 'Admission reviews by verdict.', [
    'webhook',
    'verdict',
  ]);
  for (const { name } of functions)
    for (const verdict of ['allowed', 'denied', 'error']) total.with(name, verdict);

  return async ({ method, path, body }) => {
    const fn = byPath.get(path.split('?')[0]!);
    if (fn === undefined) return text(404, 'no such webhook\n');
    if (method !== 'POST') return text(405, 'only POST\n');
    try {
      const request = parseReview(parseBytes(body ?? new Uint8Array()));
      const answer = await within(options, () => judge(fn, request));
      total.with(fn.name, answer.allowed ? 'allowed' : 'denied').inc();
      return json(buildReview(request, answer));
    } catch (error) {
      total.with(fn.name, 'error').inc();
      log.warn({ webhook: fn.name, error: asError(error) }, 'review failed');
      return failure(error);
    }
  };
}

async function judge(fn: AdmissionFunction, request: AdmissionRequest): Promise<AdmissionAnswer> {
  const { group, resource } = request.resource;
  const plain = group === '' ? resource : `${resource}.${group}`;
  const target = request.subResource === undefined ? plain : `${plain}/${request.subResource}`;
  // A configuration that sends us more than we know about must not stop it.
  if (!fn.resources.includes(target)) return { allowed: true };
  return fn.review(request);
}

class TooLate extends Error {}

function within<R>({ clock, timeout = seconds(10) }: WebhookOptions, work: () => Promise<R>): Promise<R> {
  return new Promise((resolve, reject) => {
    const cancel = wakeAfter(clock, millis(timeout), () =>
      reject(new TooLate(`no verdict within ${timeout / 1000} s`)),
    );
    work().then(resolve, reject).finally(cancel);
  });
}

const json = (value: object): HttpResponse => text(200, writeJson(value), 'application/json');

function failure(error: unknown): HttpResponse {
  if (error instanceof ReviewError || error instanceof SyntaxError) return text(400, `${error.message}\n`);
  if (error instanceof TooLate) return text(504, `${error.message}\n`);
  return text(500, 'the review failed\n');
}
