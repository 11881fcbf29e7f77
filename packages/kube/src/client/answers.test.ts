import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '#api/http';
import { ApiError } from '#api/status';
import type { Client } from './client.ts';
import {
  exists,
  forbidden,
  html,
  invalid,
  Job,
  job,
  key,
  missing,
  notServed,
  otherUid,
  setup,
  stale,
  webhook,
} from './jobs.testkit.ts';
import { bytes, errorResponse, json } from './testkit.ts';

/** The result of a verb for one response: the `kind` of its value, or the error it throws. */
async function outcome(answer: HttpResponse, verb: (client: Client) => Promise<unknown>): Promise<string> {
  try {
    const value = await verb(setup([answer]).client);
    if (value === undefined) return 'undefined';
    const { kind, by } = value as { kind: string; by?: string };
    return by === undefined ? kind : `${kind} by ${by}`;
  } catch (error) {
    if (error instanceof ApiError) return `throws ${error.code}`;
    return `throws ${(error as { failure?: string }).failure ?? String(error)}`;
  }
}

const verbs = {
  get: (client: Client) => client.get(Job, key),
  listPage: (client: Client) => client.listPage(Job),
  create: (client: Client) => client.create(Job, job()),
  update: (client: Client) => client.update(Job, job()),
  patch: (client: Client) => client.patch(Job, key, { type: 'merge', patch: {} }, { ifUid: 'u1' }),
  apply: (client: Client) => client.apply(Job, job()),
  delete: (client: Client) => client.delete(Job, key),
};

describe('expected outcomes are returned as values, all others are thrown', () => {
  it.each<[keyof typeof verbs, string, HttpResponse, string]>([
    ['get', 'the object', json(200, job()), 'Job'],
    ['get', 'missing', missing, 'undefined'],
    ['get', 'kind not served', notServed, 'throws 404'],
    ['get', 'forbidden', forbidden, 'throws 403'],
    ['get', 'a login page', html, 'throws malformed'],
    ['get', 'an object without metadata', json(200, { kind: 'Job' }), 'throws malformed'],
    ['get', 'a list', json(200, []), 'throws malformed'],
    ['get', 'an empty body', { status: 200, headers: {}, body: bytes('') }, 'throws malformed'],
    ['get', 'a redirect', { status: 302, headers: { location: '/login' }, body: bytes('') }, 'throws 302'],
    ['listPage', 'a page', json(200, { metadata: { resourceVersion: '9' }, items: [] }), 'page'],
    [
      'listPage',
      'items null, as Go may write it',
      json(200, { metadata: { resourceVersion: '9' }, items: null }),
      'page',
    ],
    ['listPage', 'expired', errorResponse(410, 'Expired', 'too old'), 'expired'],
    ['listPage', 'kind not served', notServed, 'throws 404'],
    [
      'listPage',
      'items of another type',
      json(200, { metadata: { resourceVersion: '9' }, items: {} }),
      'throws malformed',
    ],
    [
      'listPage',
      'a bad item',
      json(200, { metadata: { resourceVersion: '9' }, items: [1] }),
      'throws malformed',
    ],
    ['listPage', 'no version', json(200, { items: [] }), 'throws malformed'],
    ['create', 'created', json(201, job()), 'created'],
    ['create', 'exists', exists, 'exists'],
    ['create', 'invalid', invalid, 'invalid'],
    [
      'create',
      'namespace missing',
      errorResponse(404, 'NotFound', 'namespaces "n" not found', { name: 'n', kind: 'namespaces' }),
      'throws 404',
    ],
    ['create', 'a 409 of a webhook', webhook, 'throws 409'],
    ['create', 'namespace terminating', forbidden, 'throws 403'],
    ['update', 'updated', json(200, job()), 'updated'],
    ['update', 'stale', stale, 'conflict by changed'],
    ['update', 'webhook', webhook, 'conflict by admission'],
    ['update', 'missing', missing, 'missing'],
    ['update', 'invalid', invalid, 'invalid'],
    ['update', 'kind not served', notServed, 'throws 404'],
    ['patch', 'patched', json(200, job()), 'patched'],
    ['patch', 'stale', stale, 'conflict by changed'],
    ['patch', 'another uid', otherUid, 'conflict by changed'],
    ['patch', 'missing', missing, 'missing'],
    ['patch', 'invalid', invalid, 'invalid'],
    ['patch', 'unsupported type', errorResponse(415, 'UnsupportedMediaType', ''), 'throws 415'],
    ['apply', 'applied', json(200, job()), 'applied'],
    [
      'apply',
      'another manager',
      errorResponse(409, 'Conflict', 'Apply failed with 1 conflict', {
        causes: [{ reason: 'FieldManagerConflict' }],
      }),
      'conflict by manager',
    ],
    ['apply', 'invalid', invalid, 'invalid'],
    ['delete', 'missing', missing, 'gone'],
    ['delete', 'kind not served', notServed, 'throws 404'],
    [
      'delete',
      'a proxy without the API',
      { status: 404, headers: {}, body: bytes('not found') },
      'throws 404',
    ],
    ['delete', 'stale', stale, 'conflict by changed'],
    ['delete', 'webhook', webhook, 'conflict by admission'],
    ['delete', 'forbidden', forbidden, 'throws 403'],
    ['delete', 'too many requests', errorResponse(429, 'TooManyRequests', ''), 'throws 429'],
    ['delete', 'a login page', html, 'throws malformed'],
    [
      'delete',
      'a 200 response with a failure Status',
      json(200, { kind: 'Status', status: 'Failure' }),
      'throws malformed',
    ],
    ['delete', 'a 200 response with an empty Status', json(200, { kind: 'Status' }), 'throws malformed'],
  ])('%s: %s', async (verb, _name, answer, expected) => {
    expect(await outcome(answer, verbs[verb])).toBe(expected);
  });
});
