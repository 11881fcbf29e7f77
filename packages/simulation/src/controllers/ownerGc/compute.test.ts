import type { ObjectMeta, OwnerReference } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import {
  computeFate,
  computeRole,
  FOREGROUND,
  isBlocking,
  ORPHAN,
  type OwnerState,
  type Role,
  stateOfPresent,
} from './compute.ts';

const ENDING = { deletionTimestamp: '2030-01-01T00:00:00Z' };
const ref = (uid: string, blockOwnerDeletion?: boolean): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: uid,
  uid,
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});

describe('what a pass over an object is about', () => {
  test.each<[string, ObjectMeta, Role]>([
    ['free', {}, 'none'],
    ['free, with no owners', { ownerReferences: [] }, 'none'],
    ['owned', { ownerReferences: [ref('a')] }, 'owned'],
    [
      'owned, and prepared for a manner of deletion',
      { ownerReferences: [ref('a')], finalizers: [ORPHAN] },
      'owned',
    ],
    ['ending', ENDING, 'none'],
    ['ending, owned', { ...ENDING, ownerReferences: [ref('a')] }, 'none'],
    ['ending, held by others', { ...ENDING, finalizers: ['x.dev/hold'] }, 'none'],
    ['ending in the foreground', { ...ENDING, finalizers: ['x.dev/hold', FOREGROUND] }, 'deletingDependents'],
    ['ending, leaving orphans', { ...ENDING, finalizers: [ORPHAN] }, 'orphaning'],
  ])('%s', (_, metadata, role) => expect(computeRole(metadata)).toBe(role));
});

describe('an owner that exists', () => {
  test.each<[string, ObjectMeta, OwnerState]>([
    ['is solid', {}, 'solid'],
    ['is solid while others hold it', { ...ENDING, finalizers: ['x.dev/hold'] }, 'solid'],
    ['is solid before its deletion', { finalizers: [FOREGROUND] }, 'solid'],
    ['waits in the foreground', { ...ENDING, finalizers: [FOREGROUND] }, 'waiting'],
  ])('%s', (_, metadata, state) => expect(stateOfPresent(metadata)).toBe(state));
});

test.each<[string, OwnerReference[], boolean]>([
  ['says so', [ref('a', true)], true],
  ['says so among others', [ref('b'), ref('a', false), ref('a', true)], true],
  ['blocks somebody else', [ref('b', true), ref('a')], false],
  ['says no', [ref('a', false)], false],
])('a dependent blocks when it %s', (_, ownerReferences, is) =>
  expect(isBlocking({ ownerReferences }, 'a')).toBe(is),
);

describe('the fate of an owned object', () => {
  const free: ObjectMeta = {};
  const circle: ObjectMeta = { ...ENDING, finalizers: [FOREGROUND] };
  /** `solid, dangling!`: owners a, b, … in these states, `!` blocks. */
  const fate = (
    states: string,
    more: { dependents?: ObjectMeta[]; finalizers?: string[]; isCustom?: boolean } = {},
  ) => {
    const owners = states.split(', ').map((text, i) => {
      const blocks = text.endsWith('!');
      const reference = ref('abc'[i]!, blocks ? true : undefined);
      return { reference, state: text.replace('!', '') as OwnerState };
    });
    const metadata: ObjectMeta = {
      ownerReferences: owners.map(({ reference }) => reference),
      ...(more.finalizers === undefined ? {} : { finalizers: more.finalizers }),
    };
    return computeFate(metadata, { owners, dependents: [], isCustom: false, ...more });
  };
  const deleted = (propagation: string) => ({ kind: 'delete', propagation });

  test.each<[string, ReturnType<typeof fate>, object]>([
    ['a solid owner keeps it', fate('solid'), { kind: 'keep' }],
    ['without owners it goes', fate('dangling'), deleted('Background')],
    ['without any of them it goes', fate('dangling, dangling'), deleted('Background')],
    [
      'one solid owner keeps it; the rest is struck',
      fate('dangling, solid'),
      { kind: 'strip', references: [ref('b')] },
    ],
    ['also those that wait', fate('waiting!, solid!'), { kind: 'strip', references: [ref('b', true)] }],
    ['an unknown owner holds everything', fate('dangling, unknown'), { kind: 'hold', owner: ref('b') }],
    ['even beside a solid one', fate('solid, dangling, unknown'), { kind: 'hold', owner: ref('c') }],
    ['an owner waits: it goes', fate('waiting!'), deleted('Background')],
    ['with what it owns', fate('waiting!', { dependents: [free] }), deleted('Foreground')],
    ['beside absent ones too', fate('dangling, waiting', { dependents: [free] }), deleted('Foreground')],
    [
      'nobody waits: what it owns comes later',
      fate('dangling', { dependents: [free] }),
      deleted('Background'),
    ],
    ['orphans, as was asked', fate('dangling', { finalizers: [ORPHAN] }), deleted('Orphan')],
    [
      'in the foreground, as was asked',
      fate('dangling', { finalizers: [FOREGROUND] }),
      deleted('Foreground'),
    ],
    [
      'a finalizer of others changes nothing',
      fate('dangling', { finalizers: ['x.dev/y'] }),
      deleted('Background'),
    ],
    [
      'a circle is opened',
      fate('waiting!, dangling', { dependents: [free, circle] }),
      { kind: 'unblock', references: [ref('a', false), ref('b')] },
    ],
    ['an open circle goes', fate('waiting', { dependents: [circle] }), deleted('Foreground')],
    [
      'a circle of custom objects says so everywhere',
      fate('waiting', { dependents: [circle], isCustom: true }),
      { kind: 'unblock', references: [ref('a', false)] },
    ],
  ])('%s', (_, is, should) => expect(is).toEqual(should));

  test('every reference to an absent owner is struck, however often it is named', () => {
    const [a, b] = [ref('a'), ref('b')];
    const owners = [a, a, b].map((reference) => ({
      reference,
      state: (reference === b ? 'solid' : 'dangling') as OwnerState,
    }));
    const surroundings = { owners, dependents: [], isCustom: false };
    expect(computeFate({ ownerReferences: [a, a, b] }, surroundings)).toEqual({
      kind: 'strip',
      references: [b],
    });
  });
});
