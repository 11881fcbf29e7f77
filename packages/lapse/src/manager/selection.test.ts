import { describe, expect, test } from 'vitest';
import type { Family } from '#controllers/family';
import { parseBindAddress } from './addresses.ts';
import { computeGates, selectFamilies } from './selection.ts';
import { UsageError } from './usage.ts';

const families = [
  { name: 'ttl', defaultOn: true },
  { name: 'cleaner', defaultOn: true },
  { name: 'pool', defaultOn: false },
];

describe('--controllers, with the semantics of kube-controller-manager', () => {
  test.each([
    ['*', ['ttl', 'cleaner']],
    ['*,-cleaner', ['ttl']],
    ['-cleaner,*', ['ttl']],
    ['*,pool', ['ttl', 'cleaner', 'pool']],
    ['pool', ['pool']],
    ['-ttl', []],
    ['ttl,-ttl', ['ttl']],
    ['-ttl,ttl', []],
    ['', []],
  ])('%s', (words, names) => {
    const selected = selectFamilies(families, words.split(',').filter(Boolean));
    expect(selected.map(({ name }) => name)).toEqual(names);
  });

  test.each(['tll', '-tll', '**', '-*'])('%s is refused', (word) => {
    expect(() => selectFamilies(families, [word])).toThrow(UsageError);
  });
});

describe('--feature-gates', () => {
  const gates = [
    { name: 'Old', default: true, stage: 'stable', description: '' },
    { name: 'Newer', default: true, stage: 'beta', description: '' },
    { name: 'New', default: false, stage: 'alpha', description: '' },
    { name: 'Newest', default: false, stage: 'alpha', description: '' },
  ] as const;
  const family = { gates } as unknown as Family;
  const open = (asked: Record<string, boolean>) =>
    [...computeGates([family], asked)].filter(([, state]) => state).map(([name]) => name);

  test.each<[Record<string, boolean>, string[]]>([
    [{}, ['Old', 'Newer']],
    [{ New: true }, ['Old', 'Newer', 'New']],
    [{ AllAlpha: true }, ['Old', 'Newer', 'New', 'Newest']],
    [{ AllAlpha: true, New: false }, ['Old', 'Newer', 'Newest']],
    [{ AllBeta: false }, ['Old']],
    [{ Old: false }, ['Newer']],
  ])('%j', (asked, names) => expect(open(asked)).toEqual(names));

  test('an unknown gate is refused', () => {
    expect(() => open({ Nwe: true })).toThrow(/"Nwe" is none of AllAlpha, AllBeta, New, Newer/);
    expect(() => open({ __proto__: true } as never)).not.toThrow();
    expect(() => open({ constructor: true })).toThrow(UsageError);
  });
});

describe('bind addresses', () => {
  test.each([
    ['0', undefined],
    ['', undefined],
    ['8080', { port: 8080 }],
    [':8080', { port: 8080 }],
    ['127.0.0.1:0', { address: '127.0.0.1', port: 0 }],
    ['localhost:9', { address: 'localhost', port: 9 }],
    ['[::1]:80', { address: '::1', port: 80 }],
  ])('%s', (text, where) => expect(parseBindAddress('x', text)).toEqual(where));

  test.each(['::1:80', ':65536', 'host', 'a:b', ':-1', '[::1]', ' 80'])('%s is refused', (text) => {
    expect(() => parseBindAddress('x', text)).toThrow(UsageError);
  });
});
