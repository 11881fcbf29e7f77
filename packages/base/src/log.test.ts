import { expect, test } from 'vitest';
import { jsonLog, type Level, prettyLog, silentLog } from './log.ts';
import { VirtualClock } from './virtualClock.ts';

function setup(make: typeof jsonLog, level?: Level) {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const log = make({ clock: new VirtualClock(), write, ...(level === undefined ? {} : { level }) });
  return { log, lines };
}

test('writes one JSON line per message: time first, then fields', () => {
  const { log, lines } = setup(jsonLog);
  log.info({ job: 'n/a', lagMs: 3 }, 'deleted');
  expect(lines).toEqual([
    '{"time":"2026-01-01T00:00:00.000Z","level":"info","message":"deleted","job":"n/a","lagMs":3}\n',
  ]);
});

test('fields of a child logger are on every line, and newer fields win', () => {
  const { log, lines } = setup(jsonLog);
  log.with({ controller: 'ttl', a: 1 }).warn({ a: 2 }, 'x');
  expect(JSON.parse(lines[0]!)).toMatchObject({ controller: 'ttl', a: 2, level: 'warn' });
});

test('lines below the configured level are dropped', () => {
  const { log, lines } = setup(jsonLog, 'warn');
  log.debug({}, 'x');
  log.info({}, 'x');
  log.warn({}, 'y');
  log.error({}, 'z');
  expect(lines.map((l) => JSON.parse(l).message)).toEqual(['y', 'z']);
});

test('an error is logged with its message, stack and cause', () => {
  const { log, lines } = setup(jsonLog);
  log.error({ error: new Error('outer', { cause: new Error('inner') }) }, 'failed');
  expect(JSON.parse(lines[0]!).error).toMatchObject({ message: 'outer', cause: { message: 'inner' } });
});

test.each([
  [
    'a circular reference',
    () => {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      return circle;
    },
  ],
  ['a bigint', () => 2n ** 70n],
  ['a very long text', () => 'x'.repeat(100_000)],
  ['line breaks', () => 'a\nb'],
])('%s cannot break the line', (_what, make) => {
  const { log, lines } = setup(jsonLog);
  log.info({ value: make() }, 'x');
  expect(lines).toHaveLength(1);
  expect(lines[0]!.indexOf('\n')).toBe(lines[0]!.length - 1);
  expect(lines[0]!.length).toBeLessThan(6000);
});

test('terminal format: one readable line, texts quoted only where needed', () => {
  const { log, lines } = setup(prettyLog);
  log.info({ job: 'n/a', why: 'two words', error: new Error('no "way"'), n: 3 }, 'deleted');
  expect(lines).toEqual(['00:00:00.000 INFO  deleted job=n/a why="two words" error="no \\"way\\"" n=3\n']);
});

test('the silent log writes nothing', () => {
  expect(() => silentLog.with({}).error({}, 'x')).not.toThrow();
});
