// Webhooks have their say on a write: mutating ones in turn, each on what the one before made of the object; validating
// ones all at once. What a webhook cannot say decides its failure policy.

import { badRequest, internalError } from '#api/errors';
import type { JsonObject } from '#api/json';
import { clone } from '#api/json';
import { parseJson } from '#api/jsonParse';
import { writeJson } from '#api/jsonWrite';
import { asJson, type KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import { seconds } from '#base/instant';
import { uuid } from '#base/random';
import { applyJsonPatch, parseJsonPatch } from '#schema/jsonPatch';
import type { Write } from '../admission.ts';
import type { Call } from '../context.ts';
import { addressOf } from './address.ts';
import { type Phase, type Webhook, webhooksOf } from './configuration.ts';
import { evaluateConditions, isRuled, isSelected } from './matching.ts';
import { collect } from './outbound.ts';
import { type Answer, AnswerError, parseAnswer, requestOf, reviewOf } from './review.ts';

const MOST_BYTES = 10 * 1024 * 1024;

/** The object as the webhooks left it. Throws what the first of them refused with. */
export async function runWebhooks(call: Call, write: Write, phase: Phase): Promise<KubeObject | undefined> {
  const webhooks = webhooksOf(call.core.store, phase).filter((webhook) => isRuled(webhook, call, write));
  if (webhooks.length === 0) return write.object;
  if (phase === 'mutating') return mutate(call, write, webhooks);
  const outcomes = await Promise.allSettled(webhooks.map((webhook) => ask(call, write, webhook, phase)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return write.object;
}

/** Whoever asked for it is called once more when others changed the object after it. */
async function mutate(
  call: Call,
  write: Write,
  webhooks: readonly Webhook[],
): Promise<KubeObject | undefined> {
  let { object } = write;
  const again: Webhook[] = [];
  let seen: Webhook[] = [];
  for (const webhook of webhooks) {
    const next = await ask(call, { ...write, object }, webhook, 'mutating');
    if (next !== undefined && next !== object) {
      again.push(...seen.filter(({ reinvokes }) => reinvokes));
      seen = seen.filter(({ reinvokes }) => !reinvokes);
      object = next;
    }
    seen.push(webhook);
  }
  for (const webhook of again)
    object = (await ask(call, { ...write, object }, webhook, 'mutating')) ?? object;
  return object;
}

/** What the webhook made of the object; undefined when it was not asked or changed nothing. */
async function ask(
  call: Call,
  write: Write,
  webhook: Webhook,
  phase: Phase,
): Promise<KubeObject | undefined> {
  if (!isSelected(webhook, call, write)) return undefined;
  const uid = uuid(call.core.random);
  const request = requestOf(call, write, uid);
  const match = evaluateConditions(webhook, request, write);
  if (match.kind === 'no') return undefined;
  if (match.kind === 'unknown') {
    if (webhook.ignoresFailure) return undefined;
    const text = `admission webhook "${webhook.name}" denied the request: failed to evaluate match conditions: ${match.why}`;
    throw new ApiError(403, 'Forbidden', text);
  }
  if (write.dryRun && !['None', 'NoneOnDryRun'].includes(webhook.sideEffects))
    throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
  const answer = await answerOf(call, webhook, { request, uid }, phase);
  if (answer === undefined) return undefined;
  call.warnings.push(...answer.warnings);
  if (!answer.allowed) throw denied(webhook, answer);
  return answer.patch === undefined ? undefined : patched(call, webhook, write.object!, answer.patch);
}

interface Question {
  readonly request: JsonObject;
  readonly uid: string;
}

/** Undefined when it failed and its failure does not matter. */
async function answerOf(
  call: Call,
  webhook: Webhook,
  question: Question,
  phase: Phase,
): Promise<Answer | undefined> {
  try {
    return await exchange(call, webhook, question, phase);
  } catch (cause) {
    if (webhook.ignoresFailure) return undefined;
    const { message } = cause as Error;
    const why = cause instanceof AnswerError ? message : `failed to call webhook: ${message}`;
    throw internalError(`failed calling webhook "${webhook.name}": ${why}`);
  }
}

async function exchange(
  { core }: Call,
  { clientConfig, timeoutSeconds }: Webhook,
  { request, uid }: Question,
  phase: Phase,
): Promise<Answer> {
  const address = addressOf(core.store, clientConfig);
  const url = new URL(address.url);
  url.searchParams.set('timeout', `${timeoutSeconds}s`);
  const response = await core.outbound({
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: Buffer.from(writeJson(reviewOf(request))),
    timeout: seconds(timeoutSeconds),
    ...address,
    url: url.href,
  });
  const body = await collect(response.body, MOST_BYTES);
  if (response.status !== 200)
    throw new Error(
      `an error on the server (${JSON.stringify(Buffer.from(body).toString('utf8').trim().slice(0, 200))}) has prevented the request from succeeding`,
    );
  let review: ReturnType<typeof parseJson>;
  try {
    review = parseJson(body, { maxDepth: 1000 });
  } catch (error) {
    throw new AnswerError(`received invalid webhook response: ${(error as Error).message}`);
  }
  return parseAnswer(review.value, uid, phase === 'mutating');
}

function denied({ name }: Webhook, { message, code, reason, details }: Answer): ApiError {
  const said = message === undefined ? ' without explanation' : `: ${message}`;
  const status = code === undefined || code < 400 || code > 599 ? 400 : code;
  return new ApiError(status, reason, `admission webhook "${name}" denied the request${said}`, details);
}

function patched(call: Call, { name }: Webhook, object: KubeObject, patch: Uint8Array): KubeObject {
  try {
    const { value, notes } = parseJson(patch, { maxDepth: 1000, notes: true });
    const changed = applyJsonPatch(clone(asJson(object)), parseJsonPatch(value, notes));
    return call.resource.codec.decode(changed as JsonObject).object;
  } catch (error) {
    throw internalError(
      `failed calling webhook "${name}": the patch cannot be applied: ${(error as Error).message}`,
    );
  }
}
