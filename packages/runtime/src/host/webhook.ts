// Serves admission functions over HTTPS: `POST /review/<secret>/<name>` with an AdmissionReview. Callers without the
// secret, or without a required client certificate, get 404 before their body is read. If a function throws or times out,
// the response is an HTTP error, so that the failurePolicy of the webhook configuration applies.

import type { Clock } from '@lapse/base/clock';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import { wakeAfter } from '@lapse/base/monotonic';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { parseBytes } from '@lapse/kube/client/codec';
import type { Registry } from '../metrics/registry.ts';
import { asError } from '../outcome.ts';
import type { Peer } from './peer.ts';
import {
  type AdmissionFunction,
  type AdmissionRequest,
  type AdmissionResponse,
  buildReview,
  parseReview,
  ReviewError,
  requireFewValues,
} from './review.ts';
import { isAccepted, parseReviewPath } from './reviewPaths.ts';
import type { ReviewPaths } from './selfManaged.ts';
import { type Excess, type RequestHead, type ServeOptions, text } from './serve.ts';

export interface WebhookOptions {
  readonly functions: readonly AdmissionFunction[];
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  readonly callers: Callers;
  /** Timeout of a review; default: 10 s, the default of API servers. */
  readonly timeout?: Millis;
}

/** How the API server is distinguished from other callers. At least one of the two is required. */
export interface Callers {
  readonly paths?: Pick<ReviewPaths, 'accepted' | 'refreshSoon'>;
  /** Allowed common names of client certificates. Empty: any certificate of the CA. Unset: no certificate is required. */
  readonly clientNames?: readonly string[];
}

export interface Webhook extends Required<Pick<ServeOptions, 'handle' | 'refuse' | 'onExcess'>> {}

/** Why a caller is refused. All reasons but `method` get the same response. */
type Refusal = 'path' | 'client' | 'method';
const REFUSALS = ['path', 'client', 'method', 'size', 'overload'] as const satisfies readonly (
  | Refusal
  | Excess
)[];

const isKnownClient = ({ clientNames }: Callers, { verified, commonName = '' }: Peer): boolean =>
  clientNames === undefined || (verified && (clientNames.length === 0 || clientNames.includes(commonName)));

export function webhookHandler(options: WebhookOptions): Webhook {
  const { functions, registry, callers } = options;
  const byName = new Map(functions.map((fn) => [fn.name, fn]));
  if (byName.size !== functions.length) throw new Error('two admission functions have the same name');
  if (callers.paths === undefined && callers.clientNames === undefined)
    throw new Error('the webhook needs a path secret or client certificates');
  const total = registry.counter('lapse_webhook_reviews_total', 'Admission reviews by result.', [
    'webhook',
    'result',
  ]);
  for (const { name } of functions)
    for (const result of ['allowed', 'denied', 'error']) total.with(name, result);
  const refused = registry.counter(
    'lapse_webhook_refused_total',
    'Requests to the webhook that were refused before a review: wrong path, no client certificate, wrong method, body too large, too many in flight.',
    ['reason'],
  );
  for (const reason of REFUSALS) refused.with(reason);

  const route = ({ method, path }: RequestHead, peer: Peer): AdmissionFunction | Refusal => {
    const fn = functionAt(byName, callers, path.split('?')[0]!);
    if (fn === undefined) return 'path';
    if (!isKnownClient(callers, peer)) return 'client';
    return method === 'POST' ? fn : 'method';
  };
  return {
    onExcess: (excess) => refused.with(excess).inc(),
    refuse(head, peer) {
      const target = route(head, peer);
      if (typeof target !== 'string') return undefined;
      refused.with(target).inc();
      // The configurations may have lost the path, for example because they were recreated.
      if (target === 'path') callers.paths?.refreshSoon();
      return answerTo(target);
    },
    async handle(request, peer) {
      const target = route(request, peer);
      return typeof target === 'string' ? answerTo(target) : review(options, { fn: target, request, total });
    },
  };
}

const answerTo = (refusal: Refusal): HttpResponse =>
  refusal === 'method' ? text(405, 'only POST\n') : text(404, 'not found\n');

function functionAt(
  byName: ReadonlyMap<string, AdmissionFunction>,
  { paths }: Callers,
  path: string,
): AdmissionFunction | undefined {
  const called = parseReviewPath(path);
  if (called === undefined) return undefined;
  const { name, secret } = called;
  const isRight = paths === undefined ? secret === undefined : isAccepted(secret ?? '', paths.accepted());
  return isRight ? byName.get(name) : undefined;
}

interface Reviewing {
  readonly fn: AdmissionFunction;
  readonly request: HttpRequest;
  readonly total: ReturnType<Registry['counter']>;
}

async function review(options: WebhookOptions, { fn, request, total }: Reviewing): Promise<HttpResponse> {
  try {
    const body = request.body ?? new Uint8Array();
    requireFewValues(body);
    const admission = parseReview(parseBytes(body));
    const answer = await within(options, () => runReview(fn, admission));
    total.with(fn.name, answer.allowed ? 'allowed' : 'denied').inc();
    return json(buildReview(admission, answer));
  } catch (error) {
    total.with(fn.name, 'error').inc();
    options.log.warn({ webhook: fn.name, error: asError(error) }, 'review failed');
    return failure(error);
  }
}

async function runReview(fn: AdmissionFunction, request: AdmissionRequest): Promise<AdmissionResponse> {
  const { group, resource } = request.resource;
  const plain = group === '' ? resource : `${resource}.${group}`;
  const target = request.subResource === undefined ? plain : `${plain}/${request.subResource}`;
  // Allows resources that the function does not review: a webhook configuration may have broader rules.
  if (!fn.resources.includes(target)) return { allowed: true };
  return fn.review(request);
}

class TooLate extends Error {}

function within<R>({ clock, timeout = seconds(10) }: WebhookOptions, work: () => Promise<R>): Promise<R> {
  return new Promise((resolve, reject) => {
    const cancel = wakeAfter(clock, millis(timeout), () =>
      reject(new TooLate(`the admission function timed out after ${timeout / 1000} s`)),
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
