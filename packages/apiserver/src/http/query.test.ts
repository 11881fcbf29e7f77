import { expect, test } from 'vitest';
import { booleanParam, integerParam, parseQuery } from './query.ts';

test.each([
  ['', undefined],
  ['watch', true],
  ['watch=', true],
  ['watch=1', true],
  ['watch=True', true],
  ['watch=f', true],
  ['watch=0', false],
  ['watch=False', false],
  ['watch=false&watch=true', false],
])('parses %s as %s', (text, expected) => {
  expect(booleanParam(parseQuery(text), 'watch')).toBe(expected);
});

test.each([
  ['', undefined],
  ['limit=5', 5],
  ['limit=%2B5', 5],
  ['limit=-1', -1],
  ['limit=9223372036854775807', 2 ** 63],
])('parses %s as the number %s', (text, expected) => {
  expect(integerParam(parseQuery(text), 'limit')).toBe(expected);
});

test.each([
  ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
  ['limit=1e3', 'strconv.ParseInt: parsing "1e3": invalid syntax'],
  ['limit=9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
])('rejects %s as a number', (text, message) => {
  expect(() => integerParam(parseQuery(text), 'limit')).toThrow(message);
});
