import { hours, instant, plus } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import type { LimitsStatus } from '#api/limits';
import { LimitGate, type LimitWriter } from './limitGate.ts';

const NOW = instant(1_750_000_000_000);
const LIMIT = { from: 'spec', maxDeletions: 20, per: hours(1), text: '1h' } as const;

function store(now = NOW): LimitWriter & { stored: LimitsStatus; writes: number; refuse: boolean } {
  const writer = {
    stored: {} as LimitsStatus,
    writes: 0,
    refuse: false,
    situation: { limits: [LIMIT], now, generation: 1, selected: 100, due: 100 },
    write: async (state: LimitsStatus) => {
      writer.writes++;
      if (writer.refuse) return false;
      writer.stored = state;
      return true;
    },
    read: () => writer.stored,
  };
  return writer;
}

test('a deletion is allowed only after its block is written, and concurrent reservations share one write', async () => {
  const gate = new LimitGate({});
  const writer = store();
  expect(gate.claim('a', NOW, true)).toEqual({ kind: 'reserve' });
  await Promise.all([gate.reserve(writer), gate.reserve(writer)]);
  expect(writer.writes).toBe(1);
  expect(writer.stored.windows?.[0]?.deletions).toBe(2);
  expect(['a', 'b', 'c'].map((uid) => gate.claim(uid, NOW, true).kind)).toEqual(['go', 'go', 'reserve']);
});

test('a deletion that was not sent is returned; one without a known result is counted once', async () => {
  const gate = new LimitGate({});
  await gate.reserve(store());
  gate.claim('a', NOW, true);
  gate.claim('b', NOW, true);
  expect(gate.claim('b', NOW, true).kind).toBe('go');
  gate.settle('a', false);
  expect(gate.claim('c', NOW, true).kind).toBe('go');
  gate.settle('b', true);
  expect(gate.claim('b', NOW, true).kind).toBe('reserve');
});

test('deletions that were reserved in a window are not sent after it', async () => {
  const gate = new LimitGate({});
  await gate.reserve(store());
  expect(gate.claim('a', plus(NOW, hours(1)), true)).toEqual({ kind: 'reserve' });
});

test('if another state is stored, nothing is allowed, and the stored state counts', async () => {
  const gate = new LimitGate({});
  const writer = store();
  writer.refuse = true;
  writer.stored = {
    windows: [{ from: 'spec', startedAt: '2025-06-15T15:06:40Z', selected: 100, deletions: 20 }],
  };
  expect(await gate.reserve(writer)).toBe('changed');
  expect(gate.claim('a', NOW, true).kind).toBe('reserve');
  writer.refuse = false;
  expect(await gate.reserve(writer)).toBe('exceeded');
  expect(gate.claim('a', NOW, true).kind).toBe('exceeded');
});

test('a status write with the same limits keeps what is reserved', async () => {
  const gate = new LimitGate({});
  const writer = store();
  await gate.reserve(writer);
  gate.adopt(structuredClone(writer.stored));
  expect(gate.claim('a', NOW, true).kind).toBe('go');
});

test('a rule without limits writes nothing', () => {
  expect(new LimitGate({}).claim('a', NOW, false)).toEqual({ kind: 'go' });
});
