import { type Instant, instant } from '@lapse/base/instant';
import type { HttpResponse } from '@lapse/kube/api/http';
import { expect, test } from 'vitest';
import { parseRequestInfo } from './requestInfo.ts';
import type { Actor } from './writers.ts';
import { Writers } from './writers.ts';

const accepted = (version?: string): HttpResponse => ({
  status: 200,
  headers: {},
  body: Buffer.from(
    version === undefined ? '{"kind":"Status"}' : `{"metadata":{"resourceVersion":"${version}"}}`,
  ),
});
const refused: HttpResponse = { status: 409, headers: {}, body: Buffer.from('{"kind":"Status"}') };
const HOME = '/api/v1/namespaces/n/pods';
const POD = { group: '', resource: 'pods', namespace: 'n', name: 'a' };

const made = (version: string) => ({ version, ends: false });
const end = (version = '99') => ({ version, ends: true });

function make() {
  let now = 0;
  const writers = new Writers(() => instant(now) as Instant);
  const enter = (actor: Actor, method: string, path = `${HOME}/a`, name?: string) =>
    writers.enter(parseRequestInfo({ method, path, headers: {} }), name, actor);
  return { writers, enter, later: () => now++ };
}

test('the version in the response identifies the writer', () => {
  const { writers, enter } = make();
  const [one, two] = [enter('user', 'PATCH'), enter('process', 'PATCH')];
  two(accepted('8'));
  one(accepted('7'));
  expect([writers.take(POD, made('8')), writers.take(POD, made('7'))]).toEqual(['process', 'user']);
});

test('before the response the first write is the writer', () => {
  const { writers, enter } = make();
  enter('user', 'PATCH');
  enter('process', 'PATCH');
  expect([writers.take(POD, made('7')), writers.take(POD, made('8'))]).toEqual(['user', 'process']);
});

test('a removal is attributed to the delete, not to a patch', () => {
  const { writers, enter } = make();
  enter('process', 'PATCH');
  enter('user', 'DELETE');
  expect(writers.take(POD, end())).toBe('user');
});

test('a rejected write is never the writer', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(refused);
  enter('user', 'DELETE')(accepted());
  expect(writers.take(POD, end())).toBe('user');
  expect(writers.take(POD, end())).toBe('server');
});

test('a delete that only sets deletionTimestamp has its version in the response', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(accepted('9'));
  enter('user', 'PATCH');
  expect(writers.take(POD, made('9'))).toBe('process');
});

test('earlier writes are no longer considered', () => {
  const { writers, enter, later } = make();
  enter('process', 'DELETE')(accepted());
  later();
  expect(writers.take(POD, end())).toBe('server');
  enter('user', 'PATCH')(accepted('5'));
  expect(writers.take(POD, made('6'))).toBe('server');
});

test('a create is matched by the name in its body or by its collection', () => {
  const { writers, enter } = make();
  enter('user', 'POST', HOME, 'a');
  enter('simulated controller', 'POST', HOME);
  expect(writers.take(POD, made('1'))).toBe('user');
  expect(writers.take({ ...POD, name: 'generated-x' }, made('2'))).toBe('simulated controller');
});

test('one deletecollection is the writer of many removals', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE', HOME)(accepted());
  expect([writers.take(POD, end()), writers.take({ ...POD, name: 'b' }, end())]).toEqual([
    'process',
    'process',
  ]);
});

test('a patch that removes the last finalizer is the writer of the removal', () => {
  const { writers, enter } = make();
  enter('process', 'PATCH');
  expect(writers.take(POD, end())).toBe('process');
});

test.each(['before its answer', 'after its answer'])(
  'a delete that marks and then removes the object is the writer of both changes, observed %s',
  (when) => {
    const { writers, enter } = make();
    const answered = enter('process', 'DELETE');
    if (when === 'after its answer') answered(accepted('8'));
    expect(writers.take(POD, made('7'))).toBe('process');
    if (when === 'before its answer') answered(accepted('8'));
    expect(writers.take(POD, end('8'))).toBe('process');
    expect(writers.take(POD, end('9'))).toBe('server');
  },
);

test('an object that a delete only marked is removed by the next writer', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(accepted('7'));
  expect(writers.take(POD, made('7'))).toBe('process');
  enter('simulated controller', 'PATCH')(accepted('8'));
  expect(writers.take(POD, end('9'))).toBe('simulated controller');
});
