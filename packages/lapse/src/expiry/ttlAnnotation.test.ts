import { minutes } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import { readTtlAnnotation } from './ttlAnnotation.ts';

const rule = 'annotation lapse.dev/ttl';

test.each([
  [{}, undefined],
  [{ labels: { 'lapse.dev/ttl': 'never' } }, undefined],
  [{ annotations: { 'lapse.dev/ttl': 'never' } }, { kind: 'never' }],
  [{ annotations: { 'lapse.dev/ttl': '30m' } }, { kind: 'after', length: minutes(30), rule }],
  [{ annotations: { 'lapse.dev/ttl': '1ns' } }, { kind: 'after', length: 1, rule }],
  [
    { annotations: { 'lapse.dev/ttl': 'Never' } },
    {
      kind: 'invalid',
      note: 'annotation lapse.dev/ttl is "Never": time: invalid duration "Never"; a duration such as 30m, or never',
    },
  ],
  [
    { annotations: { 'lapse.dev/ttl': '-1m' } },
    {
      kind: 'invalid',
      note: 'annotation lapse.dev/ttl is "-1m": must not be negative; a duration such as 30m, or never',
    },
  ],
])('reads the annotations %j', (metadata, expected) => expect(readTtlAnnotation(metadata)).toEqual(expected));
