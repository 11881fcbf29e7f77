import { describe, expect, test } from 'vitest';
import { compileMatcher, isWrite, parseRequestInfo } from './requestInfo.ts';

const see = (line: string) => {
  const [method = '', path = ''] = line.split(' ');
  return parseRequestInfo({ method, path, headers: {} });
};

test.each<[string, object]>([
  [
    'GET /api/v1/namespaces/n/pods/a',
    { verb: 'get', group: '', resource: 'pods', namespace: 'n', name: 'a' },
  ],
  [
    'GET /api/v1/pods?limit=500',
    { verb: 'list', resource: 'pods', query: 'limit=500', path: '/api/v1/pods' },
  ],
  ['GET /api/v1/pods?watch=1&resourceVersion=5', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/pods?watch=true', { verb: 'watch' }],
  ['GET /api/v1/pods?unwatch=1', { verb: 'list' }],
  [
    'POST /apis/batch/v1/namespaces/n/jobs',
    { verb: 'create', group: 'batch', version: 'v1', resource: 'jobs' },
  ],
  ['PUT /apis/batch/v1/namespaces/n/jobs/a/status', { verb: 'update', name: 'a', subresource: 'status' }],
  ['PATCH /api/v1/nodes/n1', { verb: 'patch', resource: 'nodes', name: 'n1' }],
  ['DELETE /apis/batch/v1/namespaces/n/jobs/a', { verb: 'delete', name: 'a' }],
  ['DELETE /apis/batch/v1/namespaces/n/jobs', { verb: 'deletecollection', resource: 'jobs' }],
  ['GET /api/v1/namespaces', { verb: 'list', resource: 'namespaces' }],
  ['DELETE /api/v1/namespaces/team', { verb: 'delete', resource: 'namespaces', name: 'team' }],
  ['PUT /api/v1/namespaces/team/finalize', { resource: 'namespaces', name: 'team', subresource: 'finalize' }],
  ['PATCH /api/v1/namespaces/team/status', { resource: 'namespaces', name: 'team', subresource: 'status' }],
  ['GET /api/v1/namespaces/team/secrets', { verb: 'list', resource: 'secrets', namespace: 'team' }],
  ['GET /api/v1/namespaces/n/configmaps/a%3Ab', { name: 'a:b' }],
  ['GET /version', { verb: 'other', resource: '' }],
  ['GET /apis/batch', { verb: 'other', resource: '' }],
])('%s', (line, parts) => {
  expect(see(line)).toMatchObject(parts);
});

describe('isWrite', () => {
  test.each<[string, boolean]>([
    ['GET /api/v1/pods', false],
    ['POST /api/v1/namespaces/n/pods', true],
    ['PATCH /api/v1/namespaces/n/pods/a', true],
    ['DELETE /api/v1/namespaces/n/pods', true],
    ['POST /apis/events.k8s.io/v1/namespaces/n/events', false],
    ['PUT /apis/coordination.k8s.io/v1/namespaces/n/leases/a', false],
    ['POST /apis/authorization.k8s.io/v1/subjectaccessreviews', false],
  ])('%s: %s', (line, expected) => {
    expect(isWrite(see(line))).toBe(expected);
  });
});

describe('compileMatcher', () => {
  const DELETE = 'DELETE /apis/batch/v1/namespaces/n/jobs/a';
  const STATUS = 'PATCH /apis/batch/v1/namespaces/n/jobs/a/status';
  test.each<[string, string, boolean]>([
    ['DELETE', DELETE, true],
    ['delete', DELETE, true],
    ['delete', 'DELETE /apis/batch/v1/namespaces/n/jobs', false],
    ['DELETE', 'DELETE /apis/batch/v1/namespaces/n/jobs', true],
    ['delete jobs', DELETE, true],
    ['delete pods', DELETE, false],
    ['delete jobs a', DELETE, true],
    ['delete jobs b', DELETE, false],
    ['patch jobs', STATUS, false],
    ['patch jobs/status', STATUS, true],
    ['* jobs', DELETE, true],
    ['*', 'GET /version', true],
    ['watch', 'GET /api/v1/pods?watch=1', true],
    ['GET', 'GET /api/v1/pods?watch=1', true],
  ])('%s matches %s: %s', (matcher, line, expected) => {
    expect(compileMatcher(matcher)(see(line))).toBe(expected);
  });
  test.each(['', '  ', 'a b c d'])('rejects the matcher %j', (matcher) => {
    expect(() => compileMatcher(matcher)).toThrow(/is not "VERB"/);
  });
});
