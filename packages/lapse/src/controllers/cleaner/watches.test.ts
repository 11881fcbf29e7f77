import type { KubeObject } from '@lapse/kube/api/object';
import type { Source } from '@lapse/runtime/source';
import { describe, expect, test } from 'vitest';
import { type Interest, Interests } from './watches.ts';

const KIND = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true };
const SOURCE = { kind: KIND, namespace: 'ns' } as unknown as Source;
const of = (more: Partial<Interest>): Interest => ({
  group: '',
  resource: 'configmaps',
  namespace: 'ns',
  ...more,
});
const key = (name: string) => ({ namespace: 'ns', name });

/** Counts how often its metadata is read: once per compared Cleaner, plus a constant. */
function counted(name: string, labels: Record<string, string>): { object: KubeObject; reads: () => number } {
  let count = 0;
  const metadata = { namespace: 'ns', name, labels };
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    get metadata() {
      count++;
      return metadata;
    },
  };
  return { object, reads: () => count };
}
const concerned = (interests: Interests, name: string, labels: Record<string, string> = {}) =>
  [...interests.concerned(counted(name, labels).object, SOURCE)].map((one) => one.name).sort();

describe('a changed object triggers the Cleaners', () => {
  const interests = new Interests();
  interests.set(key('by-name'), [of({ name: 'a' })]);
  interests.set(key('by-labels'), [of({ labels: { app: 'x', tier: 'y' } })]);
  interests.set(key('by-both'), [of({ name: 'a' }), of({ labels: { app: 'x' } })]);
  interests.set(key('by-suffix'), [of({ suffix: '.example.com' })]);
  interests.set(key('elsewhere'), [of({ name: 'a', namespace: 'other' })]);
  test.each<[string, string, Record<string, string>, string[]]>([
    ['that name it, each once', 'a', { app: 'x' }, ['by-both', 'by-name']],
    ['whose labels it has, all of them', 'b', { app: 'x', tier: 'y' }, ['by-both', 'by-labels']],
    ['only if it has all of their labels', 'b', { tier: 'y' }, []],
    ['whose suffix its name has', 'things.example.com', {}, ['by-suffix']],
    ['only if one of them matches', 'b', {}, []],
  ])('%s', (_, name, labels, expected) => {
    expect(concerned(interests, name, labels)).toEqual(expected);
  });

  test('a key is removed from the index when its interests change or end', () => {
    const changing = new Interests();
    changing.set(key('c'), [of({ name: 'a' })]);
    changing.set(key('c'), [of({ labels: { app: 'x' } })]);
    expect([concerned(changing, 'a'), concerned(changing, 'b', { app: 'x' })]).toEqual([[], ['c']]);
    changing.set(key('c'), []);
    expect([concerned(changing, 'b', { app: 'x' }), changing.size]).toEqual([[], 0]);
  });

  test('a lookup does not compare ten thousand Cleaners of one namespace one by one', () => {
    const many = new Interests();
    for (let i = 0; i < 10_000; i++) {
      const interest = i % 2 === 0 ? of({ name: `o${i}` }) : of({ labels: { app: `o${i}` } });
      many.set(key(`c${i}`), [interest]);
    }
    const { object, reads } = counted('o4', { app: 'o5', tier: 'web' });
    expect([...many.concerned(object, SOURCE)].map(({ name }) => name).sort()).toEqual(['c4', 'c5']);
    expect(reads()).toBeLessThan(10);
  });
});
