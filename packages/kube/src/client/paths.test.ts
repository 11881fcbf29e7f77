import { describe, expect, it } from 'vitest';
import { defineKind } from '#api/kind';
import { collectionPath, creationPath, objectPath, queryText } from './paths.ts';

const Job = defineKind({ group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true });
const Node = defineKind({ group: '', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false });

describe('paths', () => {
  it.each([
    ['all jobs', collectionPath(Job), '/apis/batch/v1/jobs'],
    ['jobs of a namespace', collectionPath(Job, 'a'), '/apis/batch/v1/namespaces/a/jobs'],
    ['an empty namespace means all namespaces', collectionPath(Job, ''), '/apis/batch/v1/jobs'],
    ['core kinds', collectionPath(Node), '/api/v1/nodes'],
    ['one job', objectPath(Job, { namespace: 'a', name: 'b' }), '/apis/batch/v1/namespaces/a/jobs/b'],
    [
      'the status of a job',
      objectPath(Job, { namespace: 'a', name: 'b' }, 'status'),
      '/apis/batch/v1/namespaces/a/jobs/b/status',
    ],
    ['one node', objectPath(Node, { name: 'n' }), '/api/v1/nodes/n'],
    ['colons are encoded', objectPath(Node, { name: 'system:a b?' }), '/api/v1/nodes/system%3Aa%20b%3F'],
  ])('%s', (_name, path, expected) => {
    expect(path).toBe(expected);
  });

  it.each<[string, () => string, string]>([
    [
      'an empty name, which would address the collection',
      () => objectPath(Job, { namespace: 'a', name: '' }),
      'the name is missing',
    ],
    ['a missing name', () => objectPath(Job, { namespace: 'a' } as never), 'the name is missing'],
    [
      'a namespaced object without a namespace',
      () => objectPath(Job, { name: 'b' }),
      'the namespace is missing',
    ],
    [
      'a create of a namespaced object without a namespace',
      () => creationPath(Job),
      'the namespace is missing',
    ],
    [
      'a cluster-scoped object with a namespace',
      () => objectPath(Node, { namespace: 'a', name: 'b' }),
      'cluster-scoped',
    ],
    ['..', () => objectPath(Job, { namespace: 'a', name: '..' }), 'cannot be a name'],
    ['.', () => objectPath(Job, { namespace: '.', name: 'b' }), 'cannot be a namespace'],
    ['a slash', () => objectPath(Node, { name: 'a/status' }), 'cannot be a name'],
    ['an encoded slash', () => objectPath(Node, { name: 'a%2fstatus' }), 'cannot be a name'],
    ['an empty subresource', () => objectPath(Node, { name: 'a' }, ''), 'the subresource is missing'],
  ])('rejects %s', (_name, path, problem) => {
    expect(path).toThrow(problem);
  });

  it.each([
    ['no parameters', {}, ''],
    ['undefined is omitted', { a: undefined }, ''],
    ['values are encoded', { labelSelector: 'a=b,c in (d)' }, '?labelSelector=a%3Db%2Cc%20in%20(d)'],
    ['several parameters', { a: 1, b: true, c: undefined, d: '' }, '?a=1&b=true&d='],
  ])('query: %s', (_name, query, expected) => {
    expect(queryText(query)).toBe(expected);
  });
});
