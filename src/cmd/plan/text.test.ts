// The text and the document of a plan; names come from a cluster and must not steer a terminal.

import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { instant } from '#base/instant';
import { planJson, planYaml } from './document.ts';
import type { Plan, PlannedEnd } from './plan.ts';
import { planText } from './text.ts';

const NOW = Date.parse('2026-03-01T10:00:00Z');
const at = (seconds: number) => instant(NOW + seconds * 1000);
const object = (kind: string, name: string, namespace?: string) => ({
  apiVersion: 'v1',
  kind,
  name,
  uid: `uid-${name}`,
  ...(namespace === undefined ? {} : { namespace }),
});
const end = (name: string, seconds: number, more: Partial<PlannedEnd> = {}): PlannedEnd => ({
  at: at(seconds),
  object: object('Job', name, 'ci'),
  family: 'ttl-after-finished',
  rule: 'spec.ttlSecondsAfterFinished',
  because: 'finished',
  propagation: 'Foreground',
  takes: [],
  takesMore: 0,
  ...more,
});
const plan = (more: Partial<Plan> = {}): Plan => ({
  made: at(0),
  until: at(7 * 86_400),
  cluster: 'kind-test',
  ends: [],
  held: [],
  more: 0,
  ...more,
});
const shown = (more: Partial<Plan>, wide = false) => planText(plan(more), { colour: false, wide });

describe('text', () => {
  test('nothing ends', () => {
    expect(shown({})).toBe('kind-test: 0 objects end by 2026-03-08T10:00:00Z.\n');
  });

  test('everything there is', () => {
    const takes = [{ object: object('Pod', 'p', 'ci'), depth: 1 }];
    const text = shown(
      {
        ends: [end('late', -90), end('next', 3600, { takes, takesMore: 2 })],
        held: [{ object: object('Node', 'n'), family: 'f', rule: 'r', because: 'paused', until: at(60) }],
        changes: [{ at: at(30), object: object('Pool', 'x'), family: 'f', rule: 'r', because: 'leaves' }],
        unread: ['secrets: forbidden'],
        more: 1,
      },
      true,
    );
    expect(text).toBe(
      `ENDS                AT                    OBJECT          RULE                          TAKES  WHY
overdue 1 min 30 s  2026-03-01T09:58:30Z  job/late -n ci  spec.ttlSecondsAfterFinished  -      finished
in 1 h              2026-03-01T11:00:00Z  job/next -n ci  spec.ttlSecondsAfterFinished  3      finished
  └ pod/p -n ci
  └ and 2 more

CHANGES  AT                    OBJECT  WHY
in 30 s  2026-03-01T10:00:30Z  pool/x  leaves

HELD    RULE  WHY
node/n  r     paused (in 1 min)

could not be read: secrets: forbidden

kind-test: 2 objects end by 2026-03-08T10:00:00Z, 1 of them overdue, 3 more go with them, 1 held, 1 ends later.
`,
    );
  });

  test('nothing in a name steers the terminal', () => {
    const hostile = '\u001b[2J\u0007\r\n\u202eevil\u009b';
    const text = shown({
      cluster: hostile,
      ends: [end(hostile, 5, { rule: hostile, because: hostile })],
      held: [{ object: object('Job', hostile, hostile), family: 'f', rule: hostile, because: hostile }],
      unread: [hostile],
    });
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(text.split('\n')).toHaveLength(10);
  });
});

describe('documents', () => {
  const one = plan({
    ends: [end('a', 1)],
    held: [{ object: object('Job', 'b'), family: 'f', rule: 'r', because: 'c', until: at(2) }],
    changes: [{ at: at(3), object: object('Pool', 'x'), family: 'f', rule: 'r', because: 'd' }],
  });
  test('JSON and YAML are the same, times are RFC 3339', () => {
    const json = JSON.parse(planJson(one)) as Record<string, unknown>;
    expect(parse(planYaml(one))).toEqual(json);
    expect(json).toMatchObject({
      made: '2026-03-01T10:00:00Z',
      until: '2026-03-08T10:00:00Z',
      cluster: 'kind-test',
      ends: [
        {
          at: '2026-03-01T10:00:01Z',
          object: { name: 'a', uid: 'uid-a' },
          propagation: 'Foreground',
          takesMore: 0,
        },
      ],
      held: [{ until: '2026-03-01T10:00:02Z', because: 'c' }],
      changes: [{ at: '2026-03-01T10:00:03Z' }],
      more: 0,
      unread: [],
    });
  });
});
