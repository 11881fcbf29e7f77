import { describe, expect, test } from 'vitest';
import { computeNames } from './acceptance.ts';
import type { Names } from './crd.ts';

const names = (kind: string, more: Partial<Names> = {}): Names => ({
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  kind,
  listKind: `${kind}List`,
  shortNames: [],
  categories: [],
  ...more,
});
const NONE = names('', { plural: '', singular: '', kind: '', listKind: '' });
const apple = names('Apple', { shortNames: ['ap', 'fruit'] });

describe('names', () => {
  test.each<[string, Names, Names, Names[], Partial<Names>, string, string]>([
    ['free names are accepted', names('Pear'), NONE, [apple], {}, 'NoConflicts', 'no conflicts found'],
    [
      'rejects the kind of another CRD in the group and accepts the other names',
      names('Apple', { plural: 'pears', singular: 'pear', listKind: 'PearList' }),
      NONE,
      [apple],
      { kind: '' },
      'KindConflict',
      '"Apple" is already in use',
    ],
    [
      'a list kind counts as a kind',
      names('AppleList', { listKind: 'X' }),
      NONE,
      [apple],
      { kind: '' },
      'KindConflict',
      '"AppleList" is already in use',
    ],
    [
      'rejects a singular that is the short name of another CRD',
      names('Fruit'),
      NONE,
      [apple],
      { singular: '' },
      'SingularConflict',
      '"fruit" is already in use',
    ],
    [
      'accepts or rejects all short names together',
      names('Pear', { shortNames: ['p', 'ap', 'fruit'] }),
      names('Pear', { shortNames: ['q'] }),
      [apple],
      { shortNames: ['q'] },
      'ShortNamesConflict',
      '["ap" is already in use, "fruit" is already in use]',
    ],
    [
      'keeps names that the CRD already has',
      names('Apple', { shortNames: ['ap', 'new'] }),
      apple,
      [apple],
      {},
      'NoConflicts',
      'no conflicts found',
    ],
    [
      'reports the last conflict',
      names('Apple'),
      NONE,
      [apple],
      { plural: '', singular: '', kind: '', listKind: '' },
      'ListKindConflict',
      '"AppleList" is already in use',
    ],
  ])('%s', (_, wished, held, others, refused, reason, message) => {
    const result = computeNames(wished, held, others);
    expect(result.names).toEqual({ ...wished, ...refused });
    expect(result.accepted).toEqual({
      type: 'NamesAccepted',
      status: reason === 'NoConflicts' ? 'True' : 'False',
      reason,
      message,
    });
  });
});
