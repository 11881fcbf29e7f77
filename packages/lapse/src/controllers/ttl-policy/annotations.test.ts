import type { Instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { EXPIRES_ANNOTATION } from '#expiry/ttlAnnotation';
import { expired, expiry, kept, type Spec, waiting } from './expected.testkit.ts';
import { annotated, at, run, time } from './policy.testkit.ts';

const TTL = 'lapse.dev/ttl';

describe('annotations of an object', () => {
  const table: Record<string, [Spec, KubeObject, Instant, object]> = {
    'ignores a longer TTL annotation without allowOverrides': [
      {},
      annotated(0, { [TTL]: '5m' }),
      at(60),
      expired(at(60)),
    ],
    'uses a longer TTL annotation with allowOverrides': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5m' }),
      at(60),
      waiting(at(300)),
    ],
    'uses a shorter TTL annotation with allowOverrides': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5s' }),
      at(5),
      expired(at(5)),
    ],
    'ignores a shorter TTL annotation without allowOverrides': [
      {},
      annotated(0, { [TTL]: '5s' }),
      at(5),
      waiting(at(60)),
    ],
    'uses an expires-at annotation with allowOverrides': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(90)),
    ],
    'accepts an expires-at annotation in another time zone': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: '2025-06-15T17:08:10+02:00' }),
      at(89),
      waiting(at(90)),
    ],
    'ignores an expires-at annotation without allowOverrides': [
      {},
      annotated(0, { [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      expired(at(60)),
    ],
    'keeps an unfinished object with an expires-at annotation': [
      { allowOverrides: true },
      annotated(undefined, { [EXPIRES_ANNOTATION]: time(1) }),
      at(99),
      kept('unfinished'),
    ],
    'uses the later of a TTL and an expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5m', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(300)),
    ],
    'uses the later of an expires-at and a TTL annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5s', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(90)),
    ],
    'accepts the TTL never without allowOverrides': [
      {},
      annotated(0, { [TTL]: 'never' }),
      at(9e9),
      kept('opted out'),
    ],
    'prefers the TTL never to an expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'never', [EXPIRES_ANNOTATION]: time(1) }),
      at(9e9),
      kept('opted out'),
    ],
    'prefers the TTL never to an unreadable expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'never', [EXPIRES_ANNOTATION]: 'tomorrow' }),
      at(9e9),
      kept('opted out'),
    ],
    'names expires-at if both annotations are due at the same time': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '90s', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      { ...waiting(at(90)), because: { ttl: { kind: 'at', rule: `annotation ${EXPIRES_ANNOTATION}` } } },
    ],
    'prefers the TTL never to an evaluation error': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: 5 }, metadata: { annotations: { [TTL]: 'never' } } }),
      at(9e9),
      kept('opted out'),
    ],
    'keeps an object with an unreadable TTL annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'nver' }),
      at(9e9),
      kept('invalid TTL', /invalid duration.*30m/),
    ],
    'keeps an object with an unreadable TTL annotation without allowOverrides': [
      {},
      annotated(0, { [TTL]: 'nver' }),
      at(9e9),
      kept('invalid TTL'),
    ],
    'keeps an object with a negative TTL annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '-5m' }),
      at(9e9),
      kept('invalid TTL', /negative/),
    ],
    'keeps an object with an unreadable expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: 'tomorrow' }),
      at(9e9),
      kept('invalid TTL', /RFC 3339/),
    ],
  };
  test.each(Object.entries(table))('%s', (_rule, [spec, object, now, expected]) => {
    expect(expiry(spec, object, now)).toMatchObject(expected);
  });
});
