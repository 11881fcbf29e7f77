// The checks of bad input, for any target.

import { expect } from 'vitest';
import { headersOf } from '../replay/exchange.ts';
import type { Target } from '../replay/types.ts';
import type { Accepted } from './accepted.ts';
import { normalise, type Recorded } from './answers.ts';
import type { BadRequest } from './requests.ts';
import { type Stage, toHttp } from './stage.ts';

/** The refusal is the recorded one and nothing has changed. */
export async function expectRefusal(stage: Stage, request: BadRequest, recorded: Recorded): Promise<void> {
  const before = await stage.contents();
  expect(normalise(await stage.send(request))).toEqual(recorded);
  expect(await stage.contents()).toEqual(before);
}

/** The object is stored, and read back it has the excerpt literally. */
export async function expectAccepted(target: Target, request: Accepted): Promise<void> {
  const written = await target.request(toHttp(request, target));
  const warning = JSON.stringify(headersOf(written).warning ?? '');
  expect(written.status, await textOf(written.body)).toBe(201);
  if (request.warning === undefined) expect(warning).toBe('""');
  else expect(JSON.parse(warning)).toContain(request.warning);
  const path = `${request.path.split('?')[0]}/${request.name}`;
  const read = await target.request(toHttp({ method: 'GET', path }, target));
  expect(await textOf(read.body)).toContain(request.excerpt);
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
