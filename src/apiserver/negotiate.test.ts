import { expect, test } from 'vitest';
import { negotiate } from './negotiate.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test.each([
  [undefined, 'json', 'object'],
  ['', 'json', 'object'],
  ['*/*', 'json', 'object'],
  ['application/json', 'json', 'object'],
  ['application/yaml', 'yaml', 'object'],
  ['application/vnd.kubernetes.protobuf,application/json', 'json', 'object'],
  ['text/html, application/yaml;q=0.1, application/json;q=0.9', 'json', 'object'],
  [`${table},application/json`, 'json', 'Table'],
  ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json', 'object'],
  [
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
    'json',
    'PartialObjectMetadata',
  ],
  ['application/json;stream=watch', 'json', 'object'],
  ['application/json;q=nonsense, application/yaml', 'yaml', 'object'],
])('Accept %s is served as %s %s', (accept, encoding, as) => {
  const served = negotiate(accept, { custom: false });
  expect([served.encoding, served.representation.as]).toEqual([encoding, as]);
});

test.each(['text/html', 'application/vnd.kubernetes.protobuf', 'application/json;q=0', ';;;,,'])(
  'Accept %s is 406',
  (accept) => {
    expect(() => negotiate(accept, { custom: false })).toThrow(/406: Not Acceptable/);
  },
);
