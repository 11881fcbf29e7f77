// Webhooks have their say on a write: mutating ones in turn, each on what the one before made of the object; validating
// ones all at once. What a webhook cannot say decides its failure policy.

import { badRequest, forbidden, internalError } from '#api/errors';
import { clone, equal, type JsonObject } from '#api/json';
import { parseJson } from '#api/jsonParse';
import { asJson, asObject, type KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import { uuid } from '#base/random';
import { applyJsonPatch, type JsonPatch, parseJsonPatch } from '#schema/jsonPatch';
import type { Write } from '../admission.ts';
import type { Call } from '../context.ts';
import type { Resource } from '../resources/resource.ts';
import { Stored } from '../store/stored.ts';
import { type Phase, type Webhook, webhooksOf } from './configuration.ts';
import { exchange, type Question } from './exchange.ts';
import { evaluateConditions, isSelected, ruledAs } from './matching.ts';
import { type Answer, requestOf } from './review.ts';

/** A webhook that the rules call, and the resource as whose it sees the object. */
interface Called {
  readonly webhook: Webhook;
  readonly as: Resource;
}

/** The object as the webhooks left it. Throws what the first of them refused with. */
export async function runWebhooks(call: Call, write: Write, phase: Phase): Promise<KubeObject | undefined> {
  const called = webhooksOf(call.core.store, phase).flatMap((webhook) => {
    const as = ruledAs(webhook, call, write);
    return as === undefined ? [] : [{ webhook, as }];
  });
  if (called.length === 0) return write.object;
  if (phase === 'mutating') return mutate(call, write, called);
  const outcomes = await Promise.allSettled(called.map((one) => ask(call, write, one, phase)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return write.object;
}

/** Whoever was called and asked for it is called once more when others changed the object after it. */
async function mutate(call: Call, write: Write, called: readonly Called[]): Promise<KubeObject | undefined> {
  let { object } = write;
  const again: Called[] = [];
  let before: Called[] = [];
  for (const one of called) {
    const outcome = await ask(call, { ...write, object }, one, 'mutating');
    if (outcome === 'not called') continue;
    if (outcome !== 'unchanged') {
      again.push(...before);
      before = [];
      object = outcome;
    }
    if (one.webhook.reinvokes) before.push(one);
  }
  for (const one of again) {
    const outcome = await ask(call, { ...write, object }, one, 'mutating');
    if (typeof outcome === 'object') object = outcome;
  }
  return object;
}

/** What the webhook made of the object. */
type Outcome = 'not called' | 'unchanged' | KubeObject;

async function ask(call: Call, write: Write, { webhook, as }: Called, phase: Phase): Promise<Outcome> {
  if (!isSelected(webhook, call, write)) return 'not called';
  const seen = { ...write, ...seenAs(call, write, as) };
  const uid = uuid(call.core.random);
  const request = requestOf(call, seen, { uid, as });
  const match = evaluateConditions(webhook, request, seen);
  if (match.kind === 'no') return 'not called';
  if (match.kind === 'unknown') {
    if (webhook.ignoresFailure) return 'not called';
    throw forbidden(call.resource, write.name, match.why);
  }
  if (write.dryRun && !['None', 'NoneOnDryRun'].includes(webhook.sideEffects))
    throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
  const answered = await answerOf(call, webhook, { request, uid }, phase);
  if (answered === undefined) return 'unchanged';
  const { answer, patch } = answered;
  call.warnings.push(...answer.warnings);
  if (!answer.allowed) throw denied(webhook, answer);
  if (patch === undefined || patch.operations.length === 0) return 'unchanged';
  return patched(call, seen, { webhook, as, patch });
}

const NO_BYTES = new Uint8Array();

/** The same object as another version or group shows it. */
function convert(object: KubeObject, from: Resource, to: Resource): KubeObject {
  if (from === to) return object;
  return to.codec.show(new Stored('', 0, NO_BYTES, from.codec.toStorage(asObject(clone(asJson(object))))));
}

function seenAs(
  { resource }: Call,
  { object, old, kind }: Write,
  as: Resource,
): Pick<Write, 'object' | 'old'> {
  const seen = (one: KubeObject | undefined) =>
    one === undefined || kind !== undefined ? one : convert(one, resource, as);
  return { object: seen(object), old: seen(old) };
}

/** Undefined when it failed and its failure does not matter. */
async function answerOf(
  call: Call,
  webhook: Webhook,
  question: Question,
  phase: Phase,
): Promise<{ answer: Answer; patch: JsonPatch | undefined } | undefined> {
  try {
    const answer = await exchange(call, webhook, question, phase);
    return { answer, patch: answer.allowed && answer.patch ? readPatch(answer.patch) : undefined };
  } catch (cause) {
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

function denied({ name }: Webhook, { message, code, reason, details }: Answer): ApiError {
  const why = message ?? reason;
  const said = why === undefined ? ' without explanation' : `: ${why}`;
  const status = code === undefined || code < 400 || code > 599 ? 400 : code;
  return new ApiError(status, reason, `admission webhook "${name}" denied the request${said}`, details);
}

/** A patch that does not fit is an error, whatever the failure policy says. */
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
