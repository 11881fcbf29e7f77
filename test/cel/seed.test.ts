// The condition of the Cleaner's proposal on every kind of data it may read.

import { compile, conditionEnvironment, DYN, parseTimestamp, timestampFromMillis } from '@lapse/cel/cel';
import { describe, expect, it } from 'vitest';
import { handWritten, idleRevision, type Revision, ROUTES, SEED_CONDITION } from './seed.ts';

const compiled = compile(SEED_CONDITION, conditionEnvironment({ revisions: DYN }));
if (compiled.kind === 'invalid') throw new Error(compiled.message);
const { program } = compiled;

// The window is 360 hours: everything idle since before 1 January is stale on the 16th.
const NOW = '2026-01-16T00:00:00Z';
const STALE = '2025-12-31T23:59:59Z';
const EDGE = '2026-01-01T00:00:00Z';
const RECENT = '2026-01-10T00:00:00Z';

const active = (name: string): Revision => ({
  ...idleRevision(name, STALE),
  status: { conditions: [{ type: 'Active', status: 'True', lastTransitionTime: STALE }] },
});
const without = (name: string, since: string): Revision => ({
  metadata: { name },
  status: idleRevision(name, since).status,
});

function answer(items: readonly unknown[], now = NOW): string {
  const outcome = program.evaluate({ revisions: { items }, time: parseTimestamp(now) });
  return outcome.kind === 'value' ? String(outcome.value) : `${outcome.kind}: ${outcome.message}`;
}

describe('the seed condition', () => {
  it.each<[data: string, items: readonly unknown[], outcome: string]>([
    ['nothing left', [], 'true'],
    ['idle for longer than the window', [idleRevision('a', STALE)], 'true'],
    ['idle for exactly the window', [idleRevision('a', EDGE)], 'true'],
    ['one nanosecond inside the window', [idleRevision('a', '2026-01-01T00:00:00.000000001Z')], 'false'],
    ['one nanosecond outside', [idleRevision('a', '2025-12-31T23:59:59.999999999Z')], 'true'],
    ['idle since lately', [idleRevision('a', RECENT)], 'false'],
    ['active', [active('a')], 'false'],
    ['routed to by something else', [idleRevision('a', STALE, 'sfj-a,production')], 'false'],
    ['only preview routes', [idleRevision('a', STALE, 'preview-a')], 'true'],
    ['an empty route name is something else', [idleRevision('a', STALE, '')], 'false'],
    ['the same instant in another zone', [idleRevision('a', '2026-01-01T02:00:00+02:00')], 'true'],
    ['one second later in another zone', [idleRevision('a', '2026-01-01T02:00:01+02:00')], 'false'],
    ['microseconds', [idleRevision('a', '2025-12-31T23:59:59.999999Z')], 'true'],
    ['one stale and one recent', [idleRevision('a', STALE), idleRevision('b', RECENT)], 'false'],
    ['no Active condition at all', [{ ...idleRevision('a', STALE), status: { conditions: [] } }], 'true'],
    [
      'a stale one without routes annotation: an error',
      [without('a', STALE)],
      'error: no such key: annotations',
    ],
    [
      'the annotations without the routes: an error',
      [{ ...idleRevision('a', STALE), metadata: { annotations: {} } }],
      `error: no such key: ${ROUTES}`,
    ],
    ['its error is absorbed by the right side', [without('a', RECENT)], 'false'],
    ['and by another element', [without('a', STALE), active('b')], 'false'],
    ['and by an earlier element', [active('b'), without('a', STALE)], 'false'],
    [
      'a broken time stamp: an error',
      [idleRevision('a', 'yesterday')],
      "error: type conversion error from 'string' to 'google.protobuf.Timestamp'",
    ],
    ['a broken time stamp beside an active one', [idleRevision('a', 'yesterday'), active('b')], 'false'],
    [
      'year 10000: an error',
      [idleRevision('a', '10000-01-01T00:00:00Z')],
      "error: type conversion error from 'string' to 'google.protobuf.Timestamp'",
    ],
    [
      'status missing: an error',
      [{ metadata: idleRevision('a', STALE).metadata }],
      'error: no such key: status',
    ],
    ['a time stamp in the future', [idleRevision('a', '2030-01-01T00:00:00Z')], 'false'],
  ])('%s', (_, items, outcome) => {
    expect(answer(items)).toBe(outcome);
  });

  it('agrees with hand-written JavaScript on a thousand revisions', () => {
    const items = Array.from({ length: 1000 }, (_, i) =>
      idleRevision(`r${i}`, new Date(1.7e12 + i * 7_777_777).toISOString()),
    );
    for (let now = 1.7e12; now < 1.72e12; now += 777_777_777) {
      const outcome = program.evaluate({ revisions: { items }, time: timestampFromMillis(now) });
      expect(outcome).toMatchObject({ kind: 'value', value: handWritten({ items }, now) });
    }
  });

  it('an unknown name is refused even where it would never be evaluated', () => {
    const bad = compile('true || revision.items.size() == 0', conditionEnvironment({ revisions: DYN }));
    expect(bad.kind === 'invalid' && bad.message).toBe(
      "ERROR: <input>:1:9: undeclared reference to 'revision' (in container '')\n | true || revision.items.size() == 0\n | ........^",
    );
  });
});
