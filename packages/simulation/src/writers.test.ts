import { type Instant, instant } from '@lapse/base/instant';
import type { HttpResponse } from '@lapse/kube/api/http';
import { expect, test } from 'vitest';
import type { Actor } from './history.ts';
import { seeRequest } from './seen.ts';
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
    writers.enter(seeRequest({ method, path, headers: {} }), name, actor);
  return { writers, enter, later: () => now++ };
}

test('the version in the answer tells', () => {
  const { writers, enter } = make();
  const [one, two] = [enter('user', 'PATCH'), enter('process', 'PATCH')];
  two(accepted('8'));
  one(accepted('7'));
  expect([writers.take(POD, made('8')), writers.take(POD, made('7'))]).toEqual(['process', 'user']);
});

test('before the answer it is whoever came first', () => {
  const { writers, enter } = make();
  enter('user', 'PATCH');
  enter('process', 'PATCH');
  expect([writers.take(POD, made('7')), writers.take(POD, made('8'))]).toEqual(['user', 'process']);
});

test('an end belongs to whoever deletes, not to whoever patches', () => {
  const { writers, enter } = make();
  enter('process', 'PATCH');
  enter('user', 'DELETE');
  expect(writers.take(POD, end())).toBe('user');
});

test('whoever was refused did nothing', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(refused);
  enter('user', 'DELETE')(accepted());
  expect(writers.take(POD, end())).toBe('user');
  expect(writers.take(POD, end())).toBe('server');
});

test('a deletion that only marks the object has its version in the answer', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(accepted('9'));
  enter('user', 'PATCH');
  expect(writers.take(POD, made('9'))).toBe('process');
});

test('what was written earlier has been seen, or has changed nothing', () => {
  const { writers, enter, later } = make();
  enter('process', 'DELETE')(accepted());
  later();
  expect(writers.take(POD, end())).toBe('server');
  enter('user', 'PATCH')(accepted('5'));
  expect(writers.take(POD, made('6'))).toBe('server');
});

test('creations are known by the name in their body, or by their collection', () => {
  const { writers, enter } = make();
  enter('user', 'POST', HOME, 'a');
  enter('stand-in', 'POST', HOME);
  expect(writers.take(POD, made('1'))).toBe('user');
  expect(writers.take({ ...POD, name: 'generated-x' }, made('2'))).toBe('stand-in');
});

test('one deletion of a collection ends many', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE', HOME)(accepted());
  expect([writers.take(POD, end()), writers.take({ ...POD, name: 'b' }, end())]).toEqual([
    'process',
    'process',
  ]);
});

test('the last finalizer may be taken away by a patch', () => {
  const { writers, enter } = make();
  enter('process', 'PATCH');
  expect(writers.take(POD, end())).toBe('process');
});

test.each(['before its answer', 'after its answer'])(
  'a deletion that marks and then removes has made both, seen %s',
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

test('what a deletion only marked is ended by whoever writes next', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(accepted('7'));
  expect(writers.take(POD, made('7'))).toBe('process');
  enter('stand-in', 'PATCH')(accepted('8'));
  expect(writers.take(POD, end('9'))).toBe('stand-in');
});
