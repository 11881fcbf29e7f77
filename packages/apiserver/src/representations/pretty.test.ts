import type { HttpResponse } from '@lapse/kube/api/http';
import { describe, expect, test } from 'vitest';
import { isPrettyWanted, prettified } from './pretty.ts';

const request = (path: string, headers: Record<string, string> = {}) => ({ method: 'GET', path, headers });

describe('indented JSON', () => {
  test.each([
    ['/api', {}, false],
    ['/api?pretty=true', {}, true],
    ['/api?pretty=1', {}, true],
    ['/api?pretty=', { 'user-agent': 'curl/8' }, true],
    ['/api?pretty=false', { 'user-agent': 'curl/8' }, false],
    ['/api?pretty=maybe', {}, false],
    ['/namespaces/pretty', {}, false],
    ['/api', { 'user-agent': 'curl/8.0' }, true],
    ['/api', { 'user-agent': 'Wget/1.2' }, true],
    ['/api', { 'user-agent': 'Mozilla/5.0 (X11)' }, true],
    ['/api', { 'user-agent': 'kubectl/v1.36' }, false],
    ['/api', { accept: 'application/json;pretty=1' }, true],
  ])('%s %o: %s', (path, headers, wanted) => {
    expect(isPrettyWanted(request(path, headers as Record<string, string>))).toBe(wanted);
  });
});

const answer = (text: string, headers: Record<string, string> = {}): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(text),
});
const shown = (response: HttpResponse) => prettified(request('/x?pretty=1'), response).body.toString();

test('keeps the digits of numbers', () => {
  expect(shown(answer('{"a":9007199254740993,"b":1.0,"c":{"d":[]}}'))).toBe(
    '{\n  "a": 9007199254740993,\n  "b": 1.0,\n  "c": {\n    "d": []\n  }\n}',
  );
});

test.each([
  ['text', answer('{"a":1}', { 'content-type': 'text/plain' })],
  ['a response with an ETag', answer('{"a":1}', { etag: '"x"' })],
])('does not change %s', (_what, response) => {
  expect(shown(response)).toBe('{"a":1}');
});

test('does not change an empty body', () => {
  expect(shown(answer(''))).toBe('');
});
