import type { ObjectMeta, OwnerReference } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import {
  computeDecision,
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

describe('computeRole', () => {
  test.each<[string, ObjectMeta, Role]>([
    ['without owners', {}, 'none'],
    ['free, with no owners', { ownerReferences: [] }, 'none'],
    ['with owners', { ownerReferences: [ref('a')] }, 'owned'],
    [
      'owned, with a foreground or orphan finalizer',
      { ownerReferences: [ref('a')], finalizers: [ORPHAN] },
      'owned',
    ],
    ['terminating', ENDING, 'none'],
    ['ending, owned', { ...ENDING, ownerReferences: [ref('a')] }, 'none'],
    ['terminating, held by another finalizer', { ...ENDING, finalizers: ['x.dev/hold'] }, 'none'],
    [
      'terminating in the foreground',
      { ...ENDING, finalizers: ['x.dev/hold', FOREGROUND] },
      'deletingDependents',
    ],
    ['ending, leaving orphans', { ...ENDING, finalizers: [ORPHAN] }, 'orphaning'],
  ])('%s', (_, metadata, role) => expect(computeRole(metadata)).toBe(role));
});

describe('an existing owner', () => {
  test.each<[string, ObjectMeta, OwnerState]>([
    ['is solid', {}, 'solid'],
    ['is solid while another finalizer holds it', { ...ENDING, finalizers: ['x.dev/hold'] }, 'solid'],
    ['is solid with a foreground finalizer before its deletion', { finalizers: [FOREGROUND] }, 'solid'],
    ['is waiting during foreground deletion', { ...ENDING, finalizers: [FOREGROUND] }, 'waiting'],
  ])('%s', (_, metadata, state) => expect(stateOfPresent(metadata)).toBe(state));
});

test.each<[string, OwnerReference[], boolean]>([
  ['has blockOwnerDeletion', [ref('a', true)], true],
  ['has blockOwnerDeletion in one of several references', [ref('b'), ref('a', false), ref('a', true)], true],
  ['blocks only another owner', [ref('b', true), ref('a')], false],
  ['has blockOwnerDeletion false', [ref('a', false)], false],
])('isBlocking for a dependent that %s', (_, ownerReferences, is) =>
  expect(isBlocking({ ownerReferences }, 'a')).toBe(is),
);

describe('computeDecision', () => {
  const free: ObjectMeta = {};
  const cycle: ObjectMeta = { ...ENDING, finalizers: [FOREGROUND] };
  /** `solid, dangling!`: owners a, b, … in these states; `!` blocks. */
  const decide = (
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
    return computeDecision(metadata, { owners, dependents: [], isCustom: false, ...more });
  };
  const deleted = (propagation: string) => ({ kind: 'delete', propagation });

  test.each<[string, ReturnType<typeof decide>, object]>([
    ['keeps an object with a solid owner', decide('solid'), { kind: 'keep' }],
    ['deletes an object whose owner is absent', decide('dangling'), deleted('Background')],
    ['deletes an object whose owners are all absent', decide('dangling, dangling'), deleted('Background')],
    [
      'keeps an object with one solid owner and removes absent owners',
      decide('dangling, solid'),
      { kind: 'strip', references: [ref('b')] },
    ],
    [
      'keeps an object with one solid owner and removes waiting owners',
      decide('waiting!, solid!'),
      { kind: 'strip', references: [ref('b', true)] },
    ],
    ['does nothing with an unknown owner', decide('dangling, unknown'), { kind: 'hold', owner: ref('b') }],
    [
      'does nothing with an unknown and a solid owner',
      decide('solid, dangling, unknown'),
      { kind: 'hold', owner: ref('c') },
    ],
    ['deletes a dependent of a waiting owner in the background', decide('waiting!'), deleted('Background')],
    [
      'deletes a dependent of a waiting owner in the foreground if it has dependents',
      decide('waiting!', { dependents: [free] }),
      deleted('Foreground'),
    ],
    [
      'deletes in the foreground with an absent and a waiting owner',
      decide('dangling, waiting', { dependents: [free] }),
      deleted('Foreground'),
    ],
    [
      'deletes in the background if no owner waits',
      decide('dangling', { dependents: [free] }),
      deleted('Background'),
    ],
    [
      'orphans dependents if the object has the orphan finalizer',
      decide('dangling', { finalizers: [ORPHAN] }),
      deleted('Orphan'),
    ],
    [
      'deletes in the foreground if the object has the foreground finalizer',
      decide('dangling', { finalizers: [FOREGROUND] }),
      deleted('Foreground'),
    ],
    ['ignores other finalizers', decide('dangling', { finalizers: ['x.dev/y'] }), deleted('Background')],
    [
      'unblocks a blocking cycle',
      decide('waiting!, dangling', { dependents: [free, cycle] }),
      { kind: 'unblock', references: [ref('a', false), ref('b')] },
    ],
    [
      'deletes a cycle that no longer blocks',
      decide('waiting', { dependents: [cycle] }),
      deleted('Foreground'),
    ],
    [
      'sets blockOwnerDeletion to false on all references of custom objects in a cycle',
      decide('waiting', { dependents: [cycle], isCustom: true }),
      { kind: 'unblock', references: [ref('a', false)] },
    ],
  ])('%s', (_, is, should) => expect(is).toEqual(should));

  test('removes every reference to an absent owner, including duplicates', () => {
    const [a, b] = [ref('a'), ref('b')];
    const owners = [a, a, b].map((reference) => ({
      reference,
      state: (reference === b ? 'solid' : 'dangling') as OwnerState,
    }));
    const surroundings = { owners, dependents: [], isCustom: false };
    expect(computeDecision({ ownerReferences: [a, a, b] }, surroundings)).toEqual({
      kind: 'strip',
      references: [b],
    });
  });
});
