import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { builtinDefaults, builtins, typeOf } from './builtinFixture.ts';
import type { BuiltinTable } from './builtinTable.ts';
import { applyDefaults } from './defaults.ts';
import { decodeTyped } from './typed.ts';

const table: BuiltinTable = {
  version: 'test',
  kinds: {},
  types: {
    Thing: {
      go: 'v1.Thing',
      fields: {
        mode: { t: 'string', n: 1, omit: true },
        limit: { t: 'int32', n: 2, ptr: true, omit: true },
        part: { t: 'Part', n: 3, omit: true },
        parts: { t: 'Part', n: 4, list: true, omit: true },
        byName: { t: 'Part', n: 5, map: true, omit: true },
        self: { t: 'Thing', n: 6, ptr: true, omit: true },
      },
    },
    Part: { go: 'v1.Part', fields: { size: { t: 'int32', n: 1, omit: true } } },
  },
};
const defaults = { Thing: { mode: 'Auto', limit: 3, part: {} }, Part: { size: 7 } };
const applied = (value: JsonObject): JsonObject => {
  applyDefaults(defaults, table, 'Thing', value);
  return value;
};

describe('applyDefaults', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['sets absent fields, also inside defaults', {}, { mode: 'Auto', limit: 3, part: { size: 7 } }],
    [
      'treats an empty value as absent where Go cannot distinguish them',
      { mode: '', part: { size: 0 } },
      { mode: 'Auto', limit: 3, part: { size: 7 } },
    ],
    ['keeps a pointer to zero', { limit: 0 }, { mode: 'Auto', limit: 0, part: { size: 7 } }],
    [
      'sets defaults inside lists and maps',
      { parts: [{}, { size: 1 }], byName: { a: {} } },
      {
        mode: 'Auto',
        limit: 3,
        part: { size: 7 },
        parts: [{ size: 7 }, { size: 1 }],
        byName: { a: { size: 7 } },
      },
    ],
    [
      'sets defaults in recursive structs',
      { self: { mode: 'X' } },
      { mode: 'Auto', limit: 3, part: { size: 7 }, self: { mode: 'X', limit: 3, part: { size: 7 } } },
    ],
  ])('%s', (_, value, expected) => {
    expect(applied(value)).toEqual(expected);
  });

  test('copies default values', () => {
    const first = applied({});
    (first.part as JsonObject).size = 1;
    expect(applied({}).part).toEqual({ size: 7 });
  });

  test('sets the defaults of a Pod', () => {
    const pod = decodeTyped(builtins, typeOf('v1/Pod'), {
      spec: { containers: [{ name: 'a', image: 'i' }] },
    }).value;
    applyDefaults(builtinDefaults, builtins, typeOf('v1/Pod'), pod);
    expect(pod.spec).toMatchObject({
      containers: [{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    });
  });
});
