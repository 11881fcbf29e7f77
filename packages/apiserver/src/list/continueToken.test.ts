import { expect, test } from 'vitest';
import { readToken, writeToken } from './continueToken.ts';

test.each([42, undefined])('decodes an encoded token', (revision) => {
  expect(readToken(writeToken({ revision, after: 'ns/name' }))).toEqual({ revision, after: 'ns/name' });
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

test.each([
  ['nonsense', /invalid character/],
  ['!!!', /illegal base64/],
  ['', /unexpected end of JSON input/],
  [encode({ v: 'v2', rv: 1, start: 'a' }), /does not recognize this encoded version/],
  [encode({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' }), /incorrect encoded start resourceVersion/],
  [encode({ v: 'meta.k8s.io/v1', rv: '1', start: 'a' }), /incorrect encoded start resourceVersion/],
  [encode({ v: 'meta.k8s.io/v1', rv: 1, start: '' }), /encoded start key empty/],
  [encode({ v: 'meta.k8s.io/v1', rv: 1, start: '../../etc' }), /not valid: \.\.\/\.\.\/etc/],
  ['AAAAA', /illegal base64 data at input byte 4/],
  ['none!', /illegal base64 data at input byte 4/],
  [encode([]), /does not recognize/],
])('rejects %s with 400', (token, message) => {
  expect(() => readToken(token)).toThrow(message);
});
