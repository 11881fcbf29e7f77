import { expect, test } from 'vitest';
import { parsePath } from './path.ts';

const resource = (over: object) => ({
  kind: 'resource',
  group: '',
  version: 'v1',
  namespace: undefined,
  resource: 'pods',
  name: undefined,
  subresource: undefined,
  watch: false,
  ...over,
});

test.each([
  ['/api', { kind: 'discovery', level: 'core', group: '', version: '' }],
  ['/apis', { kind: 'discovery', level: 'groups', group: '', version: '' }],
  ['/apis/', { kind: 'discovery', level: 'groups', group: '', version: '' }],
  ['/apis/batch', { kind: 'discovery', level: 'group', group: 'batch', version: '' }],
  ['/apis/batch/v1', { kind: 'discovery', level: 'version', group: 'batch', version: 'v1' }],
  ['/api/v1/pods', resource({})],
  ['/api/v1/pods/', resource({})],
  ['/api/v1/namespaces', resource({ resource: 'namespaces' })],
  ['/api/v1/namespaces/x', resource({ resource: 'namespaces', name: 'x' })],
  ['/api/v1/namespaces/x/status', resource({ resource: 'namespaces', name: 'x', subresource: 'status' })],
  ['/api/v1/namespaces/x/finalize', resource({ resource: 'namespaces', name: 'x', subresource: 'finalize' })],
  [
    '/api/v1/namespaces/x/status/more',
    resource({ resource: 'namespaces', name: 'x', subresource: 'status/more' }),
  ],
  ['/api/v1/namespaces/x/pods', resource({ namespace: 'x' })],
  ['/api/v1/namespaces/x/pods/p', resource({ namespace: 'x', name: 'p' })],
  ['/api/v1/namespaces/x/pods/p/status', resource({ namespace: 'x', name: 'p', subresource: 'status' })],
  ['/api/v1/namespaces/status/pods', resource({ namespace: 'status' })],
  ['/api/v1/watch/namespaces/x/pods', resource({ namespace: 'x', watch: true })],
  ['/api/v1/watch/pods', resource({ watch: true })],
  [
    '/apis/batch/v1/namespaces/x/jobs/a%2Fb',
    resource({ group: 'batch', namespace: 'x', resource: 'jobs', name: 'a', subresource: 'b' }),
  ],
  ['/api/v1/namespaces/x/pods/..', resource({ namespace: 'x', name: '..' })],
  ['/healthz', { kind: 'other', path: '/healthz' }],
  ['/', { kind: 'other', path: '/' }],
  ['/api//pods', { kind: 'other', path: '/api//pods' }],
  ['/api/v1/pods/%zz', { kind: 'bad' }],
  ['/api/v1/pods/%C3', { kind: 'bad' }],
])('%s', (path, expected) => {
  expect(parsePath(path)).toEqual(expected);
});
