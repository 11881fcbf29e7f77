import { describe, expect, test } from 'vitest';
import { formatCheck, isKnownFormat } from './formats.ts';

const long = 'a'.repeat(64);
describe('formats', () => {
  test.each<[format: string, good: string[], bad: string[]]>([
    ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77', '507f1f77bcf86cd79943901g']],
    [
      'uri',
      [
        'http://foo.bar/#com',
        '/abs',
        'mailto:a@b',
        'http://[::1]:80/',
        'http://u:p@h/%2F',
        '*',
        'ftp://h:1:2/',
      ],
      ['', 'foo.bar', './rel', 'http://h:80x/', 'http://h:1:2/', 'http://a/%zz', ':x', 'http://[1.2.3.4]/'],
    ],
    [
      'email',
      [
        'a@b',
        '"a b"@c.d',
        'Some Name <a@b>',
        'a@[::1]',
        'a@b (comment)',
        '"Quoted" Name <a@b>',
        'Name (comment) <a@b>',
      ],
      ['', 'x', 'a@', 'a..b@c', 'a@b c', '<a@b', 'Name', '@b', '(open <a@b>', 'a@[x]', '""@b'],
    ],
    [
      'hostname',
      ['example.com', 'localhost', 'a-b.cd', 'münchen.de'],
      ['', '-a', 'a..b', 'a_b', `${'a'.repeat(254)}.com`],
    ],
    [
      'ipv4',
      ['1.2.3.4', '010.2.3.4', '255.0.0.1', '000000001.2.3.4'],
      ['1.2.3', '256.1.1.1', '0000000001.2.3.4', 'a.2.3.4', '::1', '1.2.3.4.5'],
    ],
    [
      'ipv6',
      ['::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4'],
      ['1.2.3.4', '1::2::3', '12345::', 'fe80::1%eth0', '1:2:3'],
    ],
    ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.0', '10.0.0.0/33', '::1/129', 'x/8']],
    ['mac', ['00:00:5e:00:53:01', '00-00-5e-00-53-01', '0000.5e00.5301'], ['00:00:5e', '00:00-5e:00:53:01']],
    ['uuid', ['7C8F7B6E-1b1a-4c5d-8e9f-0a1b2c3d4e5f', '7c8f7b6e1b1a4c5d8e9f0a1b2c3d4e5f'], ['x', '7c8f7b6e']],
    ['uuid4', ['7c8f7b6e-1b1a-4c5d-8e9f-0a1b2c3d4e5f'], ['7c8f7b6e-1b1a-3c5d-8e9f-0a1b2c3d4e5f']],
    ['isbn', ['3836221195', '978-4-87311-368-5'], ['3836221194']],
    ['creditcard', ['4220 8554 2622 2389'], ['4220855426213389']],
    ['ssn', ['190-73-7656'], ['190737656']],
    ['hexcolor', ['#fff', 'CCccCC'], ['#ff']],
    ['rgbcolor', ['rgb(0, 31,255)'], ['rgb(01,31,255)', 'rgb(256,0,0)']],
    ['byte', ['aGk=', 'abcd'], ['', '*', 'a']],
    ['date', ['2024-02-29'], ['2023-02-29', '2024-13-01', 'x']],
    [
      'date-time',
      ['2024-01-01T00:00:00Z', '2024-01-01t00:00:00.5+02:00'],
      ['2024-01-01', '2024-01-01T24:00:00Z', 'yesterday'],
    ],
    [
      'duration',
      ['5s', '3 days', '1 week', '9223372036854775807 ns'],
      ['x', '5', '99999999999999999999 d', '9223372036854775808 ns'],
    ],
    ['password', ['', 'anything'], []],
    ['k8s-short-name', ['a-b'], ['A', '-a', long]],
    ['k8s-long-name', [`${long}.b`], ['a..b', 'A.b']],
  ])('%s', (format, good, bad) => {
    const check = formatCheck(format)!;
    expect(good.filter((text) => !check(text))).toEqual([]);
    expect(bad.filter((text) => check(text))).toEqual([]);
  });
});

test.each<[string, string, boolean]>([
  ['string', 'date-time', true],
  ['string', 'datetime', true],
  ['string', 'colour', false],
  ['', 'ipv4', true],
  ['integer', 'int32', true],
  ['integer', 'date', false],
  ['number', 'double', true],
  ['object', 'date', false],
])('format %2$s of type %1$s is known: %3$s', (type, format, known) => {
  expect(isKnownFormat(type, format)).toBe(known);
});

test('checks long texts quickly', () => {
  const texts = ['a', '.', '1', ':', '-', '0.', '"', '(', ' ', 'a.', 'a@', '1 '].map((part) =>
    part.repeat(50_000),
  );
  for (const format of [
    'uri',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'cidr',
    'mac',
    'duration',
    'byte',
    'isbn',
    'creditcard',
    'k8s-long-name',
  ])
    for (const text of texts) formatCheck(format)!(text);
});
