import type { KubeObject } from '@lapse/kube/api/object';
import { expect, test } from 'vitest';
import { rightsIn, withoutRight } from './rights.ts';
import { familyRightsSuite } from './rightsSuites.ts';

const role = (...rules: object[]) =>
  ({ apiVersion: 'v1', kind: 'ClusterRole', metadata: { name: 'r' }, rules }) as KubeObject;
const jobs = (...verbs: string[]) => ({ apiGroups: ['batch'], resources: ['jobs'], verbs });
const named = { apiGroups: [''], resources: ['secrets'], resourceNames: ['key'], verbs: ['get'] };
const ACCOUNT = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } } as KubeObject;
const OBJECTS = [ACCOUNT, role(jobs('get', 'delete'), named), role(jobs('list'))];

test('every verb of every rule is a separate right', () => {
  expect(rightsIn(OBJECTS).map(({ text }) => text)).toEqual([
    'get jobs.batch',
    'delete jobs.batch',
    'get secrets key',
    'list jobs.batch',
  ]);
});

test.each([
  ['get jobs.batch', [ACCOUNT, role(jobs('delete'), named), role(jobs('list'))]],
  ['get secrets key', [ACCOUNT, role(jobs('get', 'delete')), role(jobs('list'))]],
  ['list jobs.batch', [ACCOUNT, role(jobs('get', 'delete'), named), role()]],
])('without %s the other rights are unchanged', (text, rest) => {
  const right = rightsIn(OBJECTS).find((one) => one.text === text)!;
  expect(withoutRight(OBJECTS, right)).toEqual(rest);
});

test('a rule about several resources is refused, because some of them could be unnecessary', () => {
  const rule = { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get'] };
  expect(() => rightsIn([role(rule)])).toThrow('more than one resource');
});

test('a family that lacks a right is refused it; rights.soak.ts tries the others', async () => {
  const suite = familyRightsSuite('request-ttl');
  const right = suite.rights.find(({ verb }) => verb === 'delete')!;
  const { refused, missing } = await suite.run(withoutRight(suite.access, right));
  expect(refused.every((words) => words.includes(right.refusal))).toBe(true);
  expect(missing).toBeDefined();
});
