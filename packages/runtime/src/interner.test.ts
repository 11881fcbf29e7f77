import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Interner, type KeyId, keyText, parseKeyText } from './interner.ts';

describe('keys as text', () => {
  test.each([
    [{ namespace: 'n', name: 'a' }, 'n/a'],
    [{ name: 'a' }, 'a'],
  ])('converts %j to %s and back', (key, text) => {
    expect(keyText(key)).toBe(text);
    expect(parseKeyText(text)).toEqual(key);
  });

  test('treats an empty namespace as cluster-scoped', () => {
    expect(keyText({ namespace: '', name: 'a' })).toBe('a');
  });
});

test('gives equal texts the same id and different held texts different ids (random holds and releases)', () => {
  const command = fc.record({ text: fc.constantFrom('a', 'b', 'n/a', 'n/b', 'm/a'), hold: fc.boolean() });
  fc.assert(
    fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
      const interner = new Interner();
      const holds = new Map<string, number>();
      for (const { text, hold } of commands) {
        const held = holds.get(text) ?? 0;
        if (hold) {
          const id = interner.intern(text);
          expect(interner.text(id)).toBe(text);
          holds.set(text, held + 1);
        } else if (held > 0) {
          interner.release(interner.find(text)!);
          holds.set(text, held - 1);
        }
        const alive = [...holds].filter(([, n]) => n > 0).map(([t]) => t);
        const ids = alive.map((t) => interner.find(t));
        expect(new Set(ids).size).toBe(alive.length);
        expect(ids).not.toContain(undefined);
        expect(interner.size).toBe(alive.length);
      }
    }),
  );
});

test('reuses released ids, so that churn does not grow the tables', () => {
  const interner = new Interner();
  let largest = 0;
  for (let i = 0; i < 10_000; i++) {
    const id = interner.intern(`n/job-${i}`);
    largest = Math.max(largest, id);
    interner.release(id);
  }
  expect([largest, interner.size]).toEqual([0, 0]);
});

test('throws when an id without a reference is released, held or read', () => {
  const interner = new Interner();
  const id = interner.intern('a');
  interner.release(id);
  for (const wrong of [() => interner.release(id), () => interner.hold(id), () => interner.text(id)])
    expect(wrong).toThrow(/has no reference/);
  expect(() => interner.release(99_999 as KeyId)).toThrow(/has no reference/);
});
