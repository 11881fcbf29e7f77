import type { Pod } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { computePodFinish, projectFinish } from '#expiry/podFinish';
import { at, ended, pod, time } from './expected.testkit.ts';

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
const CONDITION = 'newest condition';
const SEEN = 'first seen finished';
const SILENT = 'not every container reports its end';

/** Listed: terminal when the watch started, at second 50. Turned: seen turning terminal at second 50. */
type Row = [
  name: string,
  object: Pod,
  listed: [second: number, rule: string],
  turned?: [second: number, rule: string],
];

describe('a Pod first seen finished at second 50', () => {
  const rows: Row[] = [
    ['counts from the last container', failed(containers(3, 7, 1)), [7, ALL]],
    ['ignores conditions if every container reports its end', failed(containers(3), conditions(9)), [3, ALL]],
    ['counts from a native sidecar that ends last', failed(containers(3), inits(1, 4)), [4, OTHERS]],
    ['counts from an ephemeral container that ends last', failed(containers(3), ephemerals(9)), [9, OTHERS]],
    ['counts from the last container after its init containers', failed(containers(4), inits(4)), [4, ALL]],
    [
      'without container statuses counts from init and ephemeral containers',
      failed(inits(1), ephemerals(4)),
      [4, OTHERS],
    ],
    [
      'with a silent sidecar did not finish before its newest condition',
      failed(containers(3), inits(undefined), conditions(9)),
      [9, `${CONDITION}; ${SILENT}`],
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'with a silent ephemeral container and no condition counts from the first sight',
      failed(containers(3), ephemerals(undefined)),
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'with a silent container did not finish before its newest condition',
      failed(containers(0, undefined), conditions(5, 9, 2)),
      [9, `${CONDITION}; ${SILENT}`],
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'with a silent container and a condition after the first sight counts from the condition',
      failed(containers(0, undefined), conditions(60)),
      [60, `${CONDITION}; ${SILENT}`],
    ],
    [
      'with a silent container and a condition as old as the last reported end',
      failed(containers(9, undefined), conditions(9)),
      [9, `${CONDITION}; ${SILENT}`],
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'with a silent container and an older condition counts from the last reported end',
      failed(containers(undefined, 10), conditions(9)),
      [10, `last reported container end; ${SILENT}`],
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'with a silent container and no condition counts from the first sight',
      failed(containers(0, undefined)),
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'with a silent container and an end after the first sight counts from that end',
      failed(containers(60, undefined)),
      [60, `last reported container end; ${SILENT}`],
    ],
    [
      'with silent containers after its init containers counts from the newest condition',
      failed(containers(undefined), inits(1), conditions(9)),
      [9, `${CONDITION}; ${SILENT}`],
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'with silent containers did not finish before an init container ended',
      failed(containers(undefined), inits(8), conditions(2)),
      [8, `last reported container end; ${SILENT}`],
      [50, `${SEEN}; ${SILENT}`],
    ],
    [
      'in which no container reports its end counts from the newest condition',
      failed(containers(undefined), conditions(5, 9)),
      [9, CONDITION],
      [50, SEEN],
    ],
    ['without container statuses, as evicted ones', failed(conditions(5)), [5, CONDITION], [50, SEEN]],
    ['without any time counts from the first sight', failed(), [50, SEEN]],
  ];

  test.each(rows)('%s', (_name, object, listed, turned = listed) => {
    for (const [isTransition, [second, rule]] of [[false, listed] as const, [true, turned] as const]) {
      const finish = { kind: 'finished', at: at(second), rule };
      const sight = { at: at(50), isTransition };
      expect(computePodFinish(object, sight)).toEqual(finish);
      expect(computePodFinish(pod('5', projectFinish(object)), sight)).toEqual(finish);
    }
  });

  test.each<[string, Pod, note: string]>([
    ['without statuses', failed(), 'no container and no condition reports a time'],
    ['with silent containers', failed(containers(undefined)), 'no container and no condition reports a time'],
    ['with a silent container', failed(containers(3, undefined)), `${SILENT}, and no condition has a time`],
  ])('%s, has an unknown finish time before the controller saw it', (_name, object, note) => {
    expect(computePodFinish(object)).toEqual({ kind: 'timeUnknown', note });
  });
});
