import { expect, test } from 'vitest';
import type { HttpResponse } from '#api/http';
import { type Instant, instant } from '#base/instant';
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
  expect([writers.take(POD, '8'), writers.take(POD, '7')]).toEqual(['process', 'user']);
});

test('before the answer it is whoever came first', () => {
  const { writers, enter } = make();
  enter('user', 'PATCH');
  enter('process', 'PATCH');
  expect([writers.take(POD, '7'), writers.take(POD, '8')]).toEqual(['user', 'process']);
});

test('an end belongs to whoever deletes, not to whoever patches', () => {
  const { writers, enter } = make();
  enter('process', 'PATCH');
  enter('user', 'DELETE');
  expect(writers.take(POD, undefined)).toBe('user');
});

test('whoever was refused did nothing', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(refused);
  enter('user', 'DELETE')(accepted());
  expect(writers.take(POD, undefined)).toBe('user');
  expect(writers.take(POD, undefined)).toBe('server');
});

test('a deletion that only marks the object has its version in the answer', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE')(accepted('9'));
  enter('user', 'PATCH');
  expect(writers.take(POD, '9')).toBe('process');
});

test('what was written earlier has been seen, or has changed nothing', () => {
  const { writers, enter, later } = make();
  enter('process', 'DELETE')(accepted());
  later();
  expect(writers.take(POD, undefined)).toBe('server');
  enter('user', 'PATCH')(accepted('5'));
  expect(writers.take(POD, '6')).toBe('server');
});

test('creations are known by the name in their body, or by their collection', () => {
  const { writers, enter } = make();
  enter('user', 'POST', HOME, 'a');
  enter('stand-in', 'POST', HOME);
  expect(writers.take(POD, '1')).toBe('user');
  expect(writers.take({ ...POD, name: 'generated-x' }, '2')).toBe('stand-in');
});

test('one deletion of a collection ends many', () => {
  const { writers, enter } = make();
  enter('process', 'DELETE', HOME)(accepted());
  expect([writers.take(POD, undefined), writers.take({ ...POD, name: 'b' }, undefined)]).toEqual([
    'process',
    'process',
  ]);
});

test('the last finalizer may be taken away by a patch', () => {
  const { writers, enter } = make();
  enter('process', 'PATCH');
  expect(writers.take(POD, undefined)).toBe('process');
});
