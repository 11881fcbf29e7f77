// The object name that authorization checks: roles may be limited to names.

import { expect, test } from 'vitest';
import { verbOf } from '../http/handle.ts';
import { parsePath } from '../http/path.ts';
import { attributesOf } from './attributes.ts';

const MAPS = '/api/v1/namespaces/ns/configmaps';

test.each([
  ['of an object', 'GET', `${MAPS}/a`, '', 'get a'],
  ['of a collection', 'GET', MAPS, '', 'list '],
  ['of a list of one object', 'GET', MAPS, 'fieldSelector=metadata.name%3Da', 'list a'],
  ['of a watch of one object', 'GET', MAPS, 'watch=1&fieldSelector=metadata.name%3Da', 'watch a'],
  ['among other fields', 'GET', MAPS, 'fieldSelector=metadata.namespace%3Dns,metadata.name%3D%3Da', 'list a'],
  ['of all but one', 'GET', MAPS, 'fieldSelector=metadata.name!%3Da', 'list '],
  ['that leads elsewhere', 'GET', MAPS, 'fieldSelector=metadata.name%3Da/b', 'list '],
  ['of a selector that is none', 'GET', MAPS, 'fieldSelector=metadata.name', 'list '],
  ['of an old watch of one object', 'GET', '/api/v1/watch/namespaces/ns/configmaps/a', '', 'watch a'],
  ['of an old watch that is no GET', 'DELETE', '/api/v1/watch/configmaps', '', 'watch '],
  ['of an old watch', 'GET', '/api/v1/watch/configmaps', 'fieldSelector=metadata.name%3Da', 'watch '],
  ['of a deletion', 'DELETE', MAPS, 'fieldSelector=metadata.name%3Da', 'deletecollection '],
])('the name %s', (_, method, pathname, search, expected) => {
  const path = parsePath(pathname);
  const query = new URLSearchParams(search);
  const fieldSelector = query.get('fieldSelector');
  const attributes = attributesOf(path, pathname, { verb: verbOf(method, path, query), fieldSelector });
  expect('name' in attributes && `${attributes.verb} ${attributes.name}`).toBe(expected);
});
