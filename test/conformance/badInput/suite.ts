// The checks of bad input, for any target: one result per rule, so that known differences can be listed.

import { headersOf } from '../replay/exchange.ts';
import type { CaseResult, Target } from '../replay/types.ts';
import { ACCEPTED, type Accepted } from './accepted.ts';
import { BAD_REQUESTS } from './requests.ts';
import { loadResponses, normalise } from './responses.ts';
import { type Stage, toHttp } from './stage.ts';

const passed: CaseResult = { kind: 'passed' };
const failed = (difference: string): CaseResult => ({ kind: 'failed', difference });

const answers = loadResponses();
export const REFUSED = Object.keys(BAD_REQUESTS);
export const KEPT = Object.keys(ACCEPTED);

/** Passes if the answer is the recorded one and nothing has changed. */
export async function checkRejected(stage: Stage, rule: string): Promise<CaseResult> {
  const before = JSON.stringify(await stage.contents());
  const actual = JSON.stringify(normalise(await stage.send(BAD_REQUESTS[rule]!)));
  if (JSON.stringify(await stage.contents()) !== before) {
    await stage.restore();
    return failed(`changed something and answered ${actual}`);
  }
  const expected = JSON.stringify(answers[rule]);
  return actual === expected ? passed : failed(`expected ${expected}, got ${actual}`);
}

/** Passes if the object is stored and contains the excerpt literally when it is read. */
export async function checkAccepted(target: Target, rule: string): Promise<CaseResult> {
  const request: Accepted = ACCEPTED[rule]!;
  const written = await target.request(toHttp(request, target));
  if (written.status !== 201)
    return failed(`expected 201, got ${written.status} ${await textOf(written.body)}`);
  const warning = String(headersOf(written).warning ?? '');
  if (request.warning === undefined ? warning !== '' : !warning.includes(request.warning))
    return failed(`expected the warning ${request.warning ?? '(none)'}, got ${warning}`);
  const path = `${request.path.split('?')[0]}/${request.name}`;
  const read = await textOf((await target.request(toHttp({ method: 'GET', path }, target))).body);
  return read.includes(request.excerpt) ? passed : failed(`expected ${request.excerpt} in ${read}`);
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** All rules, with titles as in the list of known differences. */
export async function checkAll(target: Target, stage: Stage): Promise<Map<string, CaseResult>> {
  const results = new Map<string, CaseResult>();
  for (const rule of REFUSED) results.set(`refused / ${rule}`, await checkRejected(stage, rule));
  for (const rule of KEPT) results.set(`kept / ${rule}`, await checkAccepted(target, rule));
  return results;
}
