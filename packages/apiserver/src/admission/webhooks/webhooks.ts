// Calls the webhooks for a write: mutating ones in sequence, each with the object of the previous one; validating
// ones in parallel. When a webhook fails, its failure policy applies.

import { uuid } from '@lapse/base/random';
import { badRequest, forbidden, internalError } from '@lapse/kube/api/errors';
import { clone, equal, type JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { applyJsonPatch, type JsonPatch, parseJsonPatch } from '#schema/jsonPatch';
import type { Call } from '../../context.ts';
import { checkDeadline } from '../../http/deadline.ts';
import type { Resource } from '../../resources/resource.ts';
import { compileCondition } from '../../strategies/admission/expressions.ts';
import type { Write } from '../write.ts';
import { type Phase, type Webhook, webhooksOf } from './configuration.ts';
import { exchange, type WebhookRequest } from './exchange.ts';
import { authorizerBindings, convert, objectBindings, seenAs } from './inputs.ts';
import { evaluateConditions, isSelected, type Match, ruledAs } from './matching.ts';
import { requestOf, type WebhookResponse } from './review.ts';

/** A matching webhook, and the resource whose version it sees. */
interface Called {
  readonly webhook: Webhook;
  readonly as: Resource;
}

// Webhooks do not apply to admission configuration.
const EXEMPT_GROUP = 'admissionregistration.k8s.io';

/** The object after the webhooks. Throws the error of the first webhook that rejects the write. */
export async function runWebhooks(call: Call, write: Write, phase: Phase): Promise<KubeObject | undefined> {
  if (call.resource.group === EXEMPT_GROUP) return write.object;
  const called = webhooksOf(call.core.store, phase).flatMap((webhook) => {
    const as = ruledAs(webhook, call, write);
    return as === undefined ? [] : [{ webhook, as }];
  });
  if (called.length === 0) return write.object;
  if (phase === 'mutating') return mutate(call, write, called);
  const outcomes = await Promise.allSettled(
    called.map(async (one) => {
      const request = requestFor(call, write, one);
      if (request !== undefined) await callWebhook(call, request, one, phase);
    }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return write.object;
}

/** Calls webhooks with a reinvocation policy again when the object changed after their first call. */
async function mutate(call: Call, write: Write, called: readonly Called[]): Promise<KubeObject | undefined> {
  const rounds = new Rounds();
  let object = await mutateOnce(call, write, called, rounds);
  if (rounds.again()) object = await mutateOnce(call, { ...write, object }, called, rounds);
  return object;
}

/**
 * Tracks the webhooks to call again: those with a reinvocation policy that were called before the last change of
 * either round.
 */
class Rounds {
  readonly #again = new Set<Webhook>();
  #sinceChange: Webhook[] = [];
  #isSecond = false;

  includes(webhook: Webhook): boolean {
    return !this.#isSecond || this.#again.has(webhook);
  }

  /** Records a call of the webhook. */
  note(webhook: Webhook, isChanged: boolean): void {
    if (isChanged) for (const one of this.#sinceChange.splice(0)) this.#again.add(one);
    if (webhook.reinvokes) this.#sinceChange.push(webhook);
  }

  again(): boolean {
    this.#isSecond = true;
    return this.#again.size > 0;
  }
}

async function mutateOnce(
  call: Call,
  write: Write,
  called: readonly Called[],
  rounds: Rounds,
): Promise<KubeObject | undefined> {
  let { object } = write;
  for (const one of called) {
    const now = { ...write, object };
    const request = requestFor(call, now, one);
    if (request === undefined || !rounds.includes(one.webhook)) continue;
    const outcome = await callWebhook(call, request, one, 'mutating');
    if (outcome !== 'unchanged') object = outcome;
    rounds.note(one.webhook, outcome !== 'unchanged');
  }
  return object;
}

interface PendingRequest extends WebhookRequest {
  /** The write as the webhook sees it. */
  readonly seen: Write;
}

/** Undefined when the webhook does not match. Throws when a match cannot be determined. */
function requestFor(call: Call, write: Write, { webhook, as }: Called): PendingRequest | undefined {
  if (!isSelected(webhook, call, write)) return undefined;
  const seen = seenAs(call, write, as);
  const uid = uuid(call.core.random);
  const request = requestOf(call, seen, { uid, as });
  const match = matchConditions(call, webhook, request, seen);
  if (match.kind === 'yes') return { request, uid, seen };
  if (match.kind === 'no' || webhook.ignoresFailure) return undefined;
  throw forbidden(call.resource, write.name, match.why);
}

function matchConditions(call: Call, { matchConditions }: Webhook, request: JsonObject, seen: Write): Match {
  if (matchConditions.length === 0) return { kind: 'yes' };
  const bindings = { ...objectBindings(seen, request), ...authorizerBindings(call, seen) };
  return evaluateConditions(
    matchConditions.map(({ expression }) => expression),
    (text) => {
      const condition = compileCondition(text, false);
      if (condition.kind === 'program') return condition.program.evaluate(bindings);
      return { kind: 'error', message: condition.detail, cost: 0 };
    },
  );
}

/** The object after the webhook. */
type Outcome = 'unchanged' | KubeObject;

async function callWebhook(
  call: Call,
  request: PendingRequest,
  { webhook, as }: Called,
  phase: Phase,
): Promise<Outcome> {
  const { seen } = request;
  if (seen.dryRun && !['None', 'NoneOnDryRun'].includes(webhook.sideEffects))
    throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
  const reply = await responseOf(call, webhook, request, phase);
  if (reply === undefined) return 'unchanged';
  const { response, patch } = reply;
  call.warnings.push(...response.warnings);
  if (!response.allowed) throw denied(webhook, response);
  if (patch === undefined || patch.operations.length === 0) return 'unchanged';
  return patched(call, seen, { webhook, as, patch });
}

/** Undefined when the call failed and the failure policy is Ignore. */
async function responseOf(
  call: Call,
  webhook: Webhook,
  request: WebhookRequest,
  phase: Phase,
): Promise<{ response: WebhookResponse; patch: JsonPatch | undefined } | undefined> {
  try {
    const response = await exchange(call, webhook, request, phase);
    return { response, patch: response.allowed && response.patch ? readPatch(response.patch) : undefined };
  } catch (cause) {
    // After the deadline of the request, failures are not ignored.
    checkDeadline(call);
    if (webhook.ignoresFailure) return undefined;
    throw internalError(`failed calling webhook "${webhook.name}": ${(cause as Error).message}`);
  }
}

function readPatch(bytes: Uint8Array): JsonPatch {
  try {
    const { value, notes } = parseJson(bytes, { maxDepth: 1000, notes: true });
    return parseJsonPatch(value, notes);
  } catch (error) {
    throw new Error(`received undecodable patch in webhook response: ${(error as Error).message}`);
  }
}

function denied({ name }: Webhook, { message, code, reason, details }: WebhookResponse): ApiError {
  const why = message ?? reason;
  const suffix = why === undefined ? ' without explanation' : `: ${why}`;
  const status = code === undefined || code < 400 || code > 599 ? 400 : code;
  return new ApiError(status, reason, `admission webhook "${name}" denied the request${suffix}`, details);
}

/** A patch that does not apply is an error, regardless of the failure policy. */
function patched(
  call: Call,
  { object, kind }: Write,
  { webhook, as, patch }: Called & { readonly patch: JsonPatch },
): Outcome {
  if (object === undefined) {
    const why = 'attempted to modify the object, which is not supported for this operation';
    throw internalError(`admission webhook "${webhook.name}" ${why}`);
  }
  try {
    const changed = applyJsonPatch(clone(asJson(object)), patch);
    const decoded = (kind ?? as).codec.decode(changed as JsonObject).object;
    if (equal(asJson(decoded), asJson(object))) return 'unchanged';
    return kind ? decoded : convert(decoded, as, call.resource);
  } catch (error) {
    throw internalError((error as Error).message);
  }
}
