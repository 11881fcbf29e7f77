import { describe, expect, test } from 'vitest';
import type { Pod } from '#api/kinds/builtin';
import { at, ended, pod, time } from './expected.testkit.ts';
import { computePodFinish, projectFinish } from './podFinish.ts';

const conditions = (...seconds: number[]) => ({
  conditions: seconds.map((second) => ({ type: 'Ready', status: 'False', lastTransitionTime: time(second) })),
});
const failed = (...parts: Partial<NonNullable<Pod['status']>>[]): Pod =>
  pod('5', Object.assign({ phase: 'Failed' }, ...parts));
const containers = (...seconds: (number | undefined)[]) => ({ containerStatuses: ended(...seconds) });
const inits = (...seconds: (number | undefined)[]) => ({ initContainerStatuses: ended(...seconds) });
const ephemerals = (...seconds: (number | undefined)[]) => ({
  ephemeralContainerStatuses: ended(...seconds),
});

const ALL = 'last container finished';
const OTHERS = 'last init or ephemeral container finished';
const SILENT = 'not every container says when it ended';

describe('when a Pod finished, first seen at second 50', () => {
  test.each<[string, Pod, second: number, rule: string]>([
    ['every container says: the last', failed(containers(3, 7, 1)), 7, ALL],
    ['whatever conditions say', failed(containers(3, 7), conditions(9)), 7, ALL],
    ['and init containers', failed(containers(3), inits(4)), 3, ALL],
    ['also silent ones', failed(containers(3), inits(undefined)), 3, ALL],
    ['no container has a status: init and ephemeral ones', failed(inits(1), ephemerals(4)), 4, OTHERS],
    [
      'one is silent: the newest condition',
      failed(containers(0, undefined), conditions(5, 9, 2)),
      9,
      `newest condition; ${SILENT}`,
    ],
    [
      'one is silent, conditions are as old',
      failed(containers(9, undefined), conditions(9)),
      9,
      `newest condition; ${SILENT}`,
    ],
    [
      'one is silent, conditions are older',
      failed(containers(undefined, 10), conditions(9)),
      10,
      `last end that is told; ${SILENT}`,
    ],
    [
      'one is silent, no condition: first seen',
      failed(containers(0, undefined)),
      50,
      `first seen finished; ${SILENT}`,
    ],
    [
      'one is silent, another ended after we saw it',
      failed(containers(60, undefined)),
      60,
      `last end that is told; ${SILENT}`,
    ],
    [
      'all are silent, init containers are not: the newest condition',
      failed(containers(undefined), inits(1), conditions(9)),
      9,
      `newest condition; ${SILENT}`,
    ],
    [
      'all are silent, init containers are not, conditions are older',
      failed(containers(undefined), inits(8), conditions(2)),
      8,
      `last end that is told; ${SILENT}`,
    ],
    [
      'all are silent, init containers are not, no condition',
      failed(containers(undefined), inits(1)),
      50,
      `first seen finished; ${SILENT}`,
    ],
    [
      'one init container is silent, and no container has a status',
      failed(inits(1, undefined), conditions(9)),
      9,
      `newest condition; ${SILENT}`,
    ],
    [
      'everybody is silent: the newest condition',
      failed(containers(undefined), conditions(5, 9)),
      9,
      'newest condition',
    ],
    ['there is nobody: the newest condition', failed(conditions(5)), 5, 'newest condition'],
    ['there is nothing: first seen', failed(), 50, 'first seen finished'],
  ])('%s', (_name, object, second, rule) => {
    const finish = { kind: 'finished', at: at(second), rule };
    expect(computePodFinish(object, at(50))).toEqual(finish);
    expect(computePodFinish(pod('5', projectFinish(object)), at(50))).toEqual(finish);
  });

  test.each<[string, Pod, note: string]>([
    ['nothing', failed(), 'no container and no condition says when'],
    ['silent containers', failed(containers(undefined)), 'no container and no condition says when'],
    ['a silent container', failed(containers(3, undefined)), `${SILENT}, and no condition does`],
  ])('nobody has looked yet: %s', (_name, object, note) => {
    expect(computePodFinish(object)).toEqual({ kind: 'timeUnknown', note });
  });
});
