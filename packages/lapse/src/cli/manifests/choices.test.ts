import { expect, test } from 'vitest';
import { FAMILIES } from '#controllers/registry';
import { choicesOf, ITEM } from './choices.ts';

const chosen = FAMILIES.flatMap((family) =>
  choicesOf(family, FAMILIES).map(({ section, field, value, rules }) => [
    family.name,
    `${section}.${field}${value === undefined ? '' : `=${value}`}`,
    ...rules.flatMap(({ resources, verbs }) => verbs.map((verb) => `${verb} ${resources[0]}`)),
  ]),
);

test('values of the configuration that add rights to a family', () => {
  expect(chosen).toEqual([
    ['volume-capture', 'requestTTL.mode=annotation', 'delete volumecapturerequests'],
    [
      'volume-capture',
      'snapshot.via=VolumeSnapshot',
      'create volumesnapshots',
      'delete volumesnapshots',
      'get volumesnapshots',
      'list volumesnapshots',
      'watch volumesnapshots',
    ],
    ['volume-restore', 'requestTTL.mode=annotation', 'delete volumerestorerequests'],
    ['manifest-capture', 'requestTTL.mode=annotation', 'delete manifestcapturerequests'],
    ['object-keeper', 'objectKeeper.follow', `get ${ITEM}`, `list ${ITEM}`, `watch ${ITEM}`],
  ]);
});
