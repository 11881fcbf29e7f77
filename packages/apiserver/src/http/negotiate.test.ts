import type { ApiError } from '@lapse/kube/api/status';
import { expect, test } from 'vitest';
import { negotiate, plainNegotiation } from './negotiate.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test.each([
  [undefined, 'json', 'object'],
  ['', 'json', 'object'],
  ['*/*', 'json', 'object'],
  ['application/json', 'json', 'object'],
  ['application/yaml', 'yaml', 'object'],
  ['application/vnd.kubernetes.protobuf,application/json', 'json', 'object'],
  ['text/html, application/yaml;q=0.1, application/json;q=0.9', 'json', 'object'],
  ['*/*, application/yaml;q=0.5', 'yaml', 'object'],
  [`${table},application/json`, 'json', 'Table'],
  [`application/json,${table}`, 'json', 'object'],
  ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json', 'object'],
  [
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
    'json',
    'PartialObjectMetadata',
  ],
  ['application/yaml;as=Table;v=v1beta1;g=meta.k8s.io', 'yaml', 'Table'],
  ['application/json;stream=watch', 'json', 'object'],
  ['application/json;q=0', 'json', 'object'],
  ['application/json;q=nonsense, application/yaml', 'yaml', 'object'],
])('Accept %s is served as %s %s', (accept, encoding, as) => {
  const served = negotiate(accept, { custom: false });
  expect([served.encoding, served.representation.as]).toEqual([encoding, as]);
});

const refusal = (accept: string, offer: Parameters<typeof negotiate>[1]): string => {
  try {
    return negotiate(accept, offer).encoding;
  } catch (cause) {
    const { code, message } = cause as ApiError;
    return `${code} ${message.replaceAll('\n', '|')}`;
  }
};

const ALL = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

test.each([
  ['text/html', { custom: false }, `406 406: Not Acceptable||Available representations: ${ALL}`],
  ['application/*', { custom: false }, `406 406: Not Acceptable||Available representations: ${ALL}`],
  [
    'Application/JSON',
    { custom: false, streams: true },
    `406 406: Not Acceptable||Available representations: ${ALL}, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`,
  ],
  ['application/*', { custom: true }, 'json'],
  ['text/html', { custom: true }, `406 only the following media types are accepted: ${ALL}`],
  [';;;,,', { custom: true }, `406 only the following media types are accepted: ${ALL}`],
  ['application/json;v=v1', { custom: false }, `406 only the following media types are accepted: ${ALL}`],
  [table, { custom: false, transforms: false }, `406 only the following media types are accepted: ${ALL}`],
  [
    'application/yaml;stream=watch',
    { custom: false },
    `406 only the following media types are accepted: ${ALL}`,
  ],
  [
    'application/vnd.kubernetes.protobuf',
    { custom: false },
    '406 only the following media types are accepted: application/json, application/yaml',
  ],
])('Accept %s at %o is %s', (accept, offer, expected) => {
  expect(refusal(accept, offer)).toBe(expected);
});

test.each([
  [undefined, 'json'],
  ['application/yaml', 'yaml'],
  [table, 'json'],
  [`${table}, application/yaml`, 'yaml'],
  ['text/html', 'json'],
])('an error for Accept %s is in %s', (accept, encoding) => {
  expect(plainNegotiation(accept).encoding).toBe(encoding);
});
