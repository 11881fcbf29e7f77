// Runs the cases on a server, and returns the last answer of each.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { Normaliser, type Seen } from '../differential/normalise.ts';
import { buildRequest, exchange } from '../replay/exchange.ts';
import type { Target, WireResponse } from '../replay/types.ts';
import { CASES, type Case, type Step } from './cases.ts';
import { STAGE } from './crds.ts';
import { WRITE_STAGE } from './writeCases.ts';

const TRIES = 400;
const PAUSE_MS = 25;

export async function runRegressions(target: Target): Promise<Record<string, Seen>> {
  for (const step of [...STAGE, ...WRITE_STAGE]) await ask(target, step, '', '');
  for (const plural of ['things', 'empties']) await untilServed(target, plural);
  const seen: Record<string, Seen> = {};
  for (const [i, one] of CASES.entries()) seen[one.name] = await run(target, one, `regressions-${i}`);
  return seen;
}

async function run(target: Target, { steps }: Case, space: string): Promise<Seen> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: space } };
  await ask(target, { method: 'POST', path: '/api/v1/namespaces', body: namespace }, space, '');
  const normaliser = new Normaliser(space, { custom: false, rewritten: false });
  let version = '';
  let last: Seen | undefined;
  for (const step of steps) {
    const answer = await ask(target, step, space, version);
    version = versionOf(answer.body) ?? version;
    last = normaliser.seen(answer);
  }
  return last!;
}

function ask(
  target: Target,
  { method, path, type, body, as }: Step,
  space: string,
  version: string,
): Promise<WireResponse> {
  const filled = (text: string) => text.replaceAll('{ns}', space).replaceAll('{version}', version);
  const action = {
    method,
    path: filled(path),
    headers: {
      ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      ...(as === undefined ? {} : { 'impersonate-user': as }),
    },
    ...(body === undefined ? {} : { rawBody: filled(JSON.stringify(body)) }),
  };
  return exchange(buildRequest(action, {}, target), target);
}

function versionOf(body: WireResponse['body']): string | undefined {
  const metadata = isObject(body) ? (body as JsonObject)['metadata'] : undefined;
  return isObject(metadata) && typeof metadata['resourceVersion'] === 'string'
    ? metadata['resourceVersion']
    : undefined;
}

async function untilServed(target: Target, plural: string): Promise<void> {
  const path = `/apis/things.example.com/v1/${plural}`;
  for (let tries = 0; tries < TRIES; tries++) {
    if ((await ask(target, { method: 'GET', path }, '', '')).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`${path} is not served`);
}
