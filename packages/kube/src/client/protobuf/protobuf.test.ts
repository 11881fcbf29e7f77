import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Job } from '#api/kinds/builtin';
import { flag, IDENTITY, int, many, map, one, type Shape, text, texts, time } from '#api/shape';
import { Cursor, ProtobufError } from './cursor.ts';
import { decodeShape } from './decode.ts';
import { encode, envelope, frame, type Message } from './encode.testkit.ts';
import { decodeList, decodeStatus, decodeWireEvent, openEnvelope } from './envelope.ts';

const SHAPE: Shape = {
  text: text(1),
  texts: texts(2),
  int: int(3),
  flag: flag(4),
  time: time(5),
  all: map(6),
  some: map(7, ['a', '__proto__']),
  one: one(8, { inner: text(1), deep: one(2, { n: int(1) }) }),
  many: many(9, { inner: text(1) }),
};

const read = (message: Message) => decodeShape(new Cursor(encode(message)), SHAPE);
const entry = (key: string, value: string): Message => [
  [1, key],
  [2, value],
];

describe('decoding the fields of a shape', () => {
  test.each<[string, Message, object]>([
    ['nothing', [], {}],
    ['a text', [[1, 'grüße 🎉']], { text: 'grüße 🎉' }],
    ['an empty text is omitted', [[1, '']], {}],
    ['texts, including an empty one', [[2, 'a'], [2, ''], [2, 'b']], { texts: ['a', '', 'b'] }], // biome-ignore format: one row
    ['zero is a number', [[3, 0]], { int: 0 }],
    ['the largest TTL', [[3, 2 ** 31 - 1]], { int: 2 ** 31 - 1 }],
    ['an integer of five bytes and more', [[3, 2 ** 53 - 1]], { int: 2 ** 53 - 1 }],
    ['a negative number', [[3, -1]], { int: -1 }],
    ['false is a value', [[4, false]], { flag: false }],
    ['true', [[4, true]], { flag: true }],
    ['a time', [[5, [[1, 1_767_323_045], [2, 5]]]], { time: '2026-01-02T03:04:05Z' }], // biome-ignore format: one row
    ['the first second of 1970', [[5, [[1, 0]]]], { time: '1970-01-01T00:00:00Z' }],
    ['a zero time is omitted', [[5, []]], {}],
    ['a map', [[6, entry('k', 'v')], [6, entry('e', '')], [6, []]], { all: { k: 'v', e: '', '': '' } }], // biome-ignore format: one row
    ['only the keys of the shape', [[7, entry('b', 'x')], [7, entry('a', 'y')]], { some: { a: 'y' } }], // biome-ignore format: one row
    ['an object', [[8, [[1, 'x'], [2, [[1, 7]]]]]], { one: { inner: 'x', deep: { n: 7 } } }], // biome-ignore format: one row
    ['an object in two parts', [[8, [[1, 'x']]], [8, [[2, [[1, 7]]]]]], { one: { inner: 'x', deep: { n: 7 } } }], // biome-ignore format: one row
    ['objects', [[9, [[1, 'x']]], [9, []]], { many: [{ inner: 'x' }, {}] }], // biome-ignore format: one row
    ['the last of two texts', [[1, 'a'], [1, 'b']], { text: 'b' }], // biome-ignore format: one row
    ['fields outside the shape are skipped', [[77, 'x'], [78, 5], [1, 'a'], [2 ** 20, [[1, 'x']]]], { text: 'a' }], // biome-ignore format: one row
  ])('%s', (_what, message, expected) => {
    expect(read(message)).toEqual(expected);
  });

  test('a prototype name is an ordinary key', () => {
    const { some } = read([[7, entry('__proto__', 'x')]]) as { some: object };
    expect(Object.entries(some)).toEqual([['__proto__', 'x']]);
  });

  test('fields of fixed width are skipped', () => {
    const bytes = Buffer.concat([
      Buffer.from([(20 << 3) & 0x7f | 0x80 | 1, 1, 1, 2, 3, 4, 5, 6, 7, 8]), // biome-ignore format: bytes
      Buffer.from([(11 << 3) | 5, 1, 2, 3, 4]),
      encode([[1, 'a']]),
    ]);
    expect(decodeShape(new Cursor(bytes), SHAPE)).toEqual({ text: 'a' });
  });
});

const JOB: Shape = { metadata: one(1, IDENTITY), spec: one(2, { ttlSecondsAfterFinished: int(8) }) };
const jobMessage = (name: string, ttl: number): Message => [
  [1, [[1, name], [3, 'default'], [6, '7']]], // biome-ignore format: one row
  [2, [[1, 5], [8, ttl]]], // biome-ignore format: one row
];
const jobOf = (name: string, ttl: number) => ({
  metadata: { name, namespace: 'default', resourceVersion: '7' },
  spec: { ttlSecondsAfterFinished: ttl },
});

describe('decoding Kubernetes messages', () => {
  const listed = envelope('batch/v1', 'JobList', [
    [1, [[2, '9'], [3, 'more'], [4, 12]]], // biome-ignore format: one row
    [2, jobMessage('a', 0)],
    [2, jobMessage('b', 60)],
  ]);
  const items = [jobOf('a', 0), jobOf('b', 60)];
  const metadata = { resourceVersion: '9', continue: 'more', remainingItemCount: 12 };
  const added = frame('ADDED', envelope('batch/v1', 'Job', jobMessage('a', 5))).subarray(4);

  test('a list', () => {
    expect(decodeList(listed, Job, JOB)).toEqual({ metadata, items });
  });
  test('a watch event', () => {
    expect(decodeWireEvent(added, Job, JOB)).toEqual({ type: 'ADDED', object: jobOf('a', 5) });
  });
  test('a bookmark, for any shape', () => {
    const message: Message = [[1, [[6, '7'], [12, entry('k8s.io/initial-events-end', 'true')]]]]; // biome-ignore format: one row
    const bookmark = frame('BOOKMARK', envelope('batch/v1', 'Job', message)).subarray(4);
    expect(decodeWireEvent(bookmark, Job, {})).toEqual({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  });
  test('an error Status', () => {
    const details: Message = [[1, 'n'], [4, [[1, 'r'], [2, 'm'], [3, 'f']]], [5, 3]]; // biome-ignore format: one row
    const status = envelope('v1', 'Status', [[2, 'Failure'], [3, 'too old'], [4, 'Expired'], [5, details], [6, 410]]); // biome-ignore format: one row
    const expected = {
      status: 'Failure',
      message: 'too old',
      reason: 'Expired',
      code: 410,
      details: { name: 'n', causes: [{ reason: 'r', message: 'm', field: 'f' }], retryAfterSeconds: 3 },
    };
    expect(decodeStatus(status)).toEqual(expected);
    expect(decodeWireEvent(frame('ERROR', status).subarray(4), Job, JOB)).toEqual({
      type: 'ERROR',
      object: expected,
    });
    expect(decodeStatus(listed)).toBeUndefined();
  });

  test.each<[string, () => unknown]>([
    ['a message without the Kubernetes prefix', () => openEnvelope(Buffer.from('{"kind":"JobList"}'))],
    ['an empty message', () => openEnvelope(Buffer.alloc(0))],
    ['another kind of list', () => decodeList(envelope('v1', 'PodList', []), Job, JOB)],
    ['another kind of object', () => decodeWireEvent(frame('ADDED', envelope('v1', 'Pod', [])).subarray(4), Job, JOB)], // biome-ignore format: one row
    ['an event without an object', () => decodeWireEvent(encode([[1, 'ADDED']]), Job, JOB)],
    ['an event with an empty object', () => decodeWireEvent(encode([[1, 'ADDED'], [2, []]]), Job, JOB)], // biome-ignore format: one row
    ['JSON inside', () => openEnvelope(Buffer.concat([Buffer.from('k8s\0'), encode([[2, '{}'], [4, 'application/json']])]))], // biome-ignore format: one row
    ['a number where a text should be', () => read([[1, 5]])],
    ['a text where a number should be', () => read([[3, 'x']])],
    ['a length beyond the end', () => decodeShape(new Cursor(Buffer.from([0x0a, 0x05, 0x61])), SHAPE)],
    ['a negative length', () => decodeShape(new Cursor(Buffer.from([0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])), SHAPE)], // biome-ignore format: one row
    ['an integer without end', () => decodeShape(new Cursor(Buffer.alloc(20, 0xff)), SHAPE)],
    ['a group', () => decodeShape(new Cursor(Buffer.from([0x0b, 0x0c])), SHAPE)],
    ['an inner message that leaves its outer one', () => decodeShape(new Cursor(Buffer.from([0x42, 2, 0x0a, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1])), SHAPE)], // biome-ignore format: one row
    ['a time beyond the year 9999', () => read([[5, [[1, 2 ** 50]]]])],
  ])('rejects %s', (_what, run) => {
    expect(run).toThrow(ProtobufError);
  });

  test('a truncated or changed message is decoded or rejected with ProtobufError, never another error', () => {
    for (let end = 0; end < listed.length; end++)
      tryRead(() => decodeList(listed.subarray(0, end), Job, JOB));
    fc.assert(
      fc.property(fc.nat(added.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(added);
        changed[at] = byte;
        tryRead(() => decodeWireEvent(changed, Job, JOB));
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => tryRead(() => decodeShape(new Cursor(bytes), SHAPE)))); // biome-ignore format: one row
  });
});

function tryRead(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ProtobufError);
  }
}
