import { describe, expect, it } from 'vitest';
import { ApiError } from '#api/status';
import { apiErrorFrom, conflictCause, isExpired, isMissing } from './errors.ts';
import { bytes, errorResponse, json } from './testkit.ts';
import type { TransportResponse } from './transport.ts';

const answer = (response: unknown): TransportResponse => response as TransportResponse;
const plain = (
  status: number,
  body: string | Uint8Array,
  type?: string,
  headers = {},
): TransportResponse => ({
  status,
  headers: { ...(type === undefined ? {} : { 'content-type': type }), ...headers },
  body: typeof body === 'string' ? bytes(body) : body,
});

describe('apiErrorFrom', () => {
  it('rebuilds the error that the server sent', () => {
    const details = {
      name: 'a',
      group: 'batch',
      kind: 'jobs',
      uid: 'u',
      causes: [{ reason: 'r', message: 'm', field: 'f' }],
    };
    const error = apiErrorFrom(answer(errorResponse(404, 'NotFound', 'jobs.batch "a" not found', details)));
    expect(error).toMatchObject({ code: 404, reason: 'NotFound', message: 'jobs.batch "a" not found' });
    expect(error.status.details).toEqual(details);
  });

  it.each<[string, TransportResponse, object]>([
    [
      'text',
      plain(404, '404 page not found\n', 'text/plain'),
      {
        code: 404,
        reason: 'NotFound',
        message: 'the server responded with status 404 (text/plain): 404 page not found',
      },
    ],
    [
      'an HTML login page',
      plain(502, '<html>Bad gateway</html>', 'text/html'),
      { code: 502, reason: '', message: expect.stringContaining('text/html') },
    ],
    [
      'an empty body',
      plain(503, ''),
      { code: 503, reason: 'ServiceUnavailable', message: 'the server responded with status 503' },
    ],
    [
      'JSON that is not a Status',
      plain(500, '{"error":"x"}', 'application/json'),
      { code: 500, reason: 'InternalError' },
    ],
    ['a JSON list', plain(400, '[]', 'application/json'), { code: 400, reason: 'BadRequest' }],
    [
      'a truncated Status',
      plain(500, '{"kind":"Status","mess', 'application/json'),
      { code: 500, reason: 'InternalError' },
    ],
    ['binary data', plain(500, new Uint8Array([0xff, 0xfe, 0, 1])), { code: 500 }],
    [
      'an empty Status',
      plain(409, '{"kind":"Status"}', 'application/json'),
      { code: 409, reason: 'Conflict', message: 'the server responded with status 409' },
    ],
    [
      'a Status with fields of wrong types',
      plain(400, '{"kind":"Status","message":1,"reason":{},"details":"x","code":"y"}'),
      { code: 400, reason: 'BadRequest' },
    ],
    [
      'a Status with malformed details',
      plain(
        404,
        '{"kind":"Status","details":{"name":5,"causes":[null,1,{"field":2}],"retryAfterSeconds":"x"}}',
      ),
      { code: 404, status: expect.objectContaining({ details: { causes: [{}, {}, {}] } }) },
    ],
    [
      'a code in the body that differs from the HTTP status',
      answer({ ...json(404, { kind: 'Status', code: 200, reason: 'NotFound' }) }),
      { code: 404 },
    ],
  ])('tolerates %s', (_name, response, expected) => {
    expect(apiErrorFrom(response)).toMatchObject(expected);
  });

  it('quotes only the beginning of a long body', () => {
    expect(apiErrorFrom(plain(500, 'x'.repeat(1_000_000))).message.length).toBeLessThan(600);
  });

  it.each<[string, string | undefined, number | undefined]>([
    ['seconds', '7', 7],
    ['a date is handled by flow control', 'Sun, 06 Nov 1994 08:49:37 GMT', undefined],
    ['a negative number', '-1', undefined],
    ['absent', undefined, undefined],
  ])('Retry-After: %s', (_name, header, retryAfterSeconds) => {
    const headers = header === undefined ? {} : { 'retry-after': header };
    expect(apiErrorFrom(plain(429, 'slow down', undefined, headers)).status.details?.retryAfterSeconds).toBe(
      retryAfterSeconds,
    );
  });
});

describe('causes of a 404', () => {
  it.each<[string, ApiError, boolean]>([
    [
      'the object is missing',
      apiErrorFrom(answer(errorResponse(404, 'NotFound', 'jobs "a" not found', { name: 'a', kind: 'jobs' }))),
      true,
    ],
    [
      'another object is missing (the namespace)',
      apiErrorFrom(answer(errorResponse(404, 'NotFound', 'namespaces "x" not found', { name: 'x' }))),
      false,
    ],
    [
      'the kind is not served',
      apiErrorFrom(
        answer(errorResponse(404, 'NotFound', 'the server could not find the requested resource', {})),
      ),
      false,
    ],
    ['the group is not served', apiErrorFrom(plain(404, '404 page not found', 'text/plain')), false],
    ['a proxy responded', apiErrorFrom(plain(404, '<html>a</html>', 'text/html')), false],
    ['another code', apiErrorFrom(answer(errorResponse(410, 'NotFound', 'x', { name: 'a' }))), false],
  ])('%s', (_name, error, missing) => {
    expect(isMissing(error, 'a')).toBe(missing);
  });
});

describe('causes of a 409', () => {
  it.each<[string, string, string, object | undefined, string]>([
    [
      'uid precondition',
      'Conflict',
      'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (y). The object might have been deleted and then recreated',
      { name: 'a', kind: 'ConfigMap' },
      'changed',
    ],
    [
      'namespace precondition',
      'Conflict',
      'Operation cannot be fulfilled on namespaces "n": Precondition failed: UID in precondition: x, UID in object meta: y',
      { name: 'n', kind: 'namespaces' },
      'changed',
    ],
    [
      'stale version',
      'Conflict',
      'Operation cannot be fulfilled on jobs.batch "a": the object has been modified; please apply your changes to the latest version and try again',
      { name: 'a', group: 'batch', kind: 'jobs' },
      'changed',
    ],
    [
      'a webhook with the same reason and details',
      'Conflict',
      'admission webhook "v.example.com" denied the request: not now',
      { name: 'a', kind: 'jobs' },
      'admission',
    ],
    [
      'a webhook with a custom reason',
      'Frozen',
      'admission webhook "v.example.com" denied the request: Frozen',
      undefined,
      'admission',
    ],
    [
      'another manager owns the field',
      'Conflict',
      'Apply failed with 1 conflict: conflict with "kubectl" using v1: .data.k',
      { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "kubectl"', field: '.data.k' }] },
      'manager',
    ],
    ['an unknown reason', 'Busy', 'try later', { name: 'a' }, 'other'],
    ['no details', 'Conflict', 'try later', undefined, 'other'],
  ])('%s', (_name, reason, message, details, cause) => {
    expect(conflictCause(apiErrorFrom(answer(errorResponse(409, reason, message, details))))).toBe(cause);
  });
});

it.each<[string, unknown, boolean]>([
  ['410 Expired', new ApiError(410, 'Expired', 'too old resource version'), true],
  ['410 Gone', new ApiError(410, 'Gone', ''), true],
  ['410 without a reason', new ApiError(410, undefined, ''), true],
  ['404', new ApiError(404, 'NotFound', ''), false],
  ['another error', new Error('Expired'), false],
])('isExpired: %s', (_name, error, expected) => {
  expect(isExpired(error)).toBe(expected);
});
