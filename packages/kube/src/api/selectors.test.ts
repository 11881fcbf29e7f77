import { describe, expect, test } from 'vitest';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from './selectors.ts';

describe('label selectors', () => {
  test.each([
    ['', {}, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', {}, true],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['a in (x,y)', { a: 'y' }, true],
    ['a in (x, )', { a: '' }, true],
    ['a notin (x)', {}, true],
    ['a notin (x)', { a: 'x' }, false],
    ['n>10', { n: '11' }, true],
    ['n>10', { n: 'ten' }, false],
    ['n<10', {}, false],
    ['a=b,c', { a: 'b', c: '1' }, true],
    ['a=', { a: '' }, true],
    ['example.com/a=b', { 'example.com/a': 'b' }, true],
    ['constructor', {}, false],
    ['__proto__', {}, false],
    ['n>9223372036854775806', { n: '9223372036854775807' }, true],
  ])('%s on %j is %s', (text, labels, expected) => {
    if (text === '__proto__') expect(() => parseLabelSelector(text)).toThrow();
    else expect(matchesLabels(parseLabelSelector(text), labels)).toBe(expected);
  });

  test.each([
    ['a=not ok!', "found 'ok', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a,', "found '', expected: identifier after ','"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    [
      'n>x',
      "unable to parse requirement: values[0][n]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ['a in (x', "unable to parse requirement: found '', expected: ',' or ')'"],
  ])('%s is rejected: %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });

  test('a malicious selector is parsed quickly', () => {
    expect(() => parseLabelSelector('('.repeat(100_000))).toThrow();
    expect(parseLabelSelector(Array.from({ length: 5000 }, (_, i) => `k${i}`).join(',')).length).toBe(5000);
  });
});

describe('field selectors', () => {
  test.each([
    ['', {}, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'b' }, true],
    ['a!=b', { a: 'b' }, false],
    ['a=b,c=d', { a: 'b', c: 'x' }, false],
    ['a=x\\,y', { a: 'x,y' }, true],
    ['a=x\\=y', { a: 'x=y' }, true],
    ['a=', { a: '' }, true],
  ])('%s on %j is %s', (text, fields, expected) => {
    expect(matchesFields(parseFieldSelector(text), fields)).toBe(expected);
  });

  test.each([
    ['nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ['a=x\\y', 'invalid field selector: invalid escape sequence: \\y'],
  ])('%s is rejected', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });
});
