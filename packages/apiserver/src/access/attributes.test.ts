// The object name that authorization checks: roles may be limited to names.

import { expect, test } from 'vitest';
import { verbOf } from '../http/handle.ts';
import { parsePath } from '../http/path.ts';
import { attributesOf } from './attributes.ts';

const MAPS = '/api/v1/namespaces/ns/configmaps';

test.each([
  ['an object', 'GET', `${MAPS}/a`, '', 'get a'],
  ['a collection', 'GET', MAPS, '', 'list '],
  ['a list of one object', 'GET', MAPS, 'fieldSelector=metadata.name%3Da', 'list a'],
  ['a watch of one object', 'GET', MAPS, 'watch=1&fieldSelector=metadata.name%3Da', 'watch a'],
  [
    'a name among other fields',
    'GET',
    MAPS,
    'fieldSelector=metadata.namespace%3Dns,metadata.name%3D%3Da',
    'list a',
  ],
  ['a selector of all objects but one', 'GET', MAPS, 'fieldSelector=metadata.name!%3Da', 'list '],
  ['a name with a slash', 'GET', MAPS, 'fieldSelector=metadata.name%3Da/b', 'list '],
  ['an invalid selector', 'GET', MAPS, 'fieldSelector=metadata.name', 'list '],
  ['a deprecated watch path of one object', 'GET', '/api/v1/watch/namespaces/ns/configmaps/a', '', 'watch a'],
  ['a deprecated watch path without GET', 'DELETE', '/api/v1/watch/configmaps', '', 'watch '],
  ['a deprecated watch path', 'GET', '/api/v1/watch/configmaps', 'fieldSelector=metadata.name%3Da', 'watch '],
  ['a deletecollection', 'DELETE', MAPS, 'fieldSelector=metadata.name%3Da', 'deletecollection '],
])('the object name for authorization: %s', (_, method, pathname, search, expected) => {
  const path = parsePath(pathname);
  const query = new URLSearchParams(search);
  const fieldSelector = query.get('fieldSelector');
  const attributes = attributesOf(path, pathname, { verb: verbOf(method, path, query), fieldSelector });
  expect('name' in attributes && `${attributes.verb} ${attributes.name}`).toBe(expected);
});
