import { instant, millis, seconds } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import { describe, expect, test } from 'vitest';
import type { ServerFlags } from '../serverCommand.ts';
import { panelLines } from './panel.ts';
import { PinnedLines } from './pinnedLines.ts';
import { createTempo, parseSpeed, storeAtSpeed } from './speed.ts';
import type { Overview, Standing } from './tally.ts';
import { View } from './view.ts';

describe('--speed', () => {
  test.each([
    ['1', 1],
    ['10080', 10_080],
    ['0.5', 0.5],
    ['1000000', 1_000_000],
  ])('%s', (text, speed) => expect(parseSpeed(text)).toBe(speed));

  test.each(['0', '-1', '', 'fast', '1e3', '1000001', 'Infinity', 'NaN', '0x10', ' 60', '60x'])(
    'rejects %j and lists the valid values',
    (text) => expect(() => parseSpeed(text)).toThrow(/--speed must be a number above 0, at most 1,000,000/),
  );

  const flags = { store: 'sqlite', data: '.lapse' } as ServerFlags;
  const given =
    (...names: string[]) =>
    (flag: string) =>
      names.includes(flag);
  test('stores nothing at any speed except 1, and refuses a data directory', () => {
    expect(storeAtSpeed(1, flags, given('data'))).toBe('sqlite');
    expect(storeAtSpeed(60, flags, given())).toBe('memory');
    expect(storeAtSpeed(60, { ...flags, store: 'memory' }, given('store'))).toBe('memory');
    expect(() => storeAtSpeed(60, flags, given('data'))).toThrow(/in memory.*leave out --data/);
    expect(() => storeAtSpeed(0.5, flags, given('store'))).toThrow(/leave out --store/);
  });

  test('time runs at real speed until everything is started, then at the requested speed', async () => {
    const real = new VirtualClock(instant(0));
    const tempo = createTempo(60, real);
    const begun = tempo.clock.now();
    tempo.start(async () => {});
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    await real.advance(seconds(2), turn);
    expect(tempo.clock.now() - begun).toBe(2000);
    tempo.hurry();
    await real.advance(seconds(1), turn);
    expect(tempo.clock.now() - begun).toBe(62_000);
    await tempo.stop();
    expect(createTempo(1, real).clock).toBe(real);
  });
});

const stamp = (at: number) => `Mon ${String(at).padStart(8, '0')}`;
const standing = (family: string, more: Partial<Standing> = {}): Standing => ({
  family,
  waiting: 1,
  due: 0,
  done: 0,
  failed: 0,
  ...more,
});
const overview = (standings: readonly Standing[]): Overview => ({
  start: instant(0),
  now: instant(7_200_000),
  standings,
  latestDone: [{ ref: 'job/report', at: instant(7_000_000), by: 'ttl-after-finished' }],
});

describe('the live view', () => {
  const next = { ref: `team-with-a-long-name/job/${'x'.repeat(80)}`, at: instant(8_000_000) };

  test('shows waiting, due, done and next objects per family', () => {
    const lines = panelLines(overview([standing('ttl-after-finished', { due: 1, done: 12, next })]), {
      columns: 80,
      rows: 24,
      speed: 10_080,
      stamp,
    });
    expect(lines[0]).toMatch(/^── Mon 07200000 · 2h so far · 10,080 times as fast ─+$/);
    expect(lines[1]).toMatch(/^family +waiting +due +done {2}next$/);
    expect(lines[2]).toMatch(/^ttl-after-finished +1 +1 +12 {2}Mon 08000000 team-with-a-/);
    expect(lines.at(-1)).toBe('latest: job/report at Mon 07000000 by ttl-after-finished');
  });

  test('shows seconds at speed 1', () => {
    const begun = { ...overview([]), now: instant(14_700) };
    const [rule] = panelLines(begun, { columns: 80, rows: 24, speed: 1, stamp });
    expect(rule).toMatch(/^── Mon 00014700 · 14s so far ─+$/);
  });

  test.each([
    [80, 24],
    [40, 10],
    [20, 5],
    [200, 60],
  ])('fits a terminal of %i columns and %i rows', (columns, rows) => {
    const many = Array.from({ length: 30 }, (_, i) =>
      standing(`family-${i}-${'n'.repeat(40)}`, { next: { ...next, at: instant(i) } }),
    );
    const lines = panelLines(overview(many), { columns, rows, speed: 1, stamp });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(Math.max(40, columns));
    expect(lines.length).toBeLessThanOrEqual(Math.max(5, Math.floor(rows / 2) + 1));
    expect(lines.some((line) => /^… and \d+ more families$/.test(line))).toBe(true);
  });

  test('stays below the scrolling lines', () => {
    const written: string[] = [];
    const pinned = new PinnedLines((text) => void written.push(text));
    pinned.scroll('one\n');
    pinned.pin(['a', 'b']);
    pinned.pin(['a', 'b']);
    pinned.scroll('two\n');
    pinned.pin([]);
    expect(written).toEqual(['one\n', 'a\nb\n', '\u001b[2A\r\u001b[0Jtwo\na\nb\n', '\u001b[2A\r\u001b[0J']);
  });

  test('clears wrapped lines after the terminal became narrower', () => {
    const written: string[] = [];
    let columns = 80;
    const pinned = new PinnedLines(
      (text) => void written.push(text),
      () => columns,
    );
    pinned.pin(['x'.repeat(79), '\u001b[1mshort\u001b[22m', '']);
    columns = 30;
    pinned.pin(['narrow']);
    expect(written.at(-1)).toBe('\u001b[5A\r\u001b[0Jnarrow\n');
  });

  const shown = async (isTTY: boolean) => {
    const written: string[] = [];
    const reader = new VirtualClock(instant(0));
    const output = { isTTY, columns: 80, rows: 24, write: (text: string) => written.push(text) };
    const view = new View({ output, clock: new VirtualClock(), reader, speed: 60 });
    let waiting = 1;
    view.follow({ overview: async () => overview([standing('c', { waiting: waiting++ })]) });
    await reader.advance(millis(600), () => new Promise((resolve) => setImmediate(resolve)));
    view.timeline.add({ at: instant(0), ref: 'job/a', action: 'deleted', detail: 'x'.repeat(200) });
    view.end();
    return written;
  };

  test('prints only lines into a pipe', async () => {
    const written = await shown(false);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(/^\S.* job\/a +deleted +x{200}\n$/);
  });

  test('is redrawn on a terminal, fits it, and is removed at the end', async () => {
    const written = await shown(true);
    expect(written.filter((text) => text.includes('so far')).length).toBeGreaterThanOrEqual(3);
    const line = written.find((text) => text.includes('job/a deleted') || /job\/a +.*deleted/.test(text))!;
    const plain = line.replace(/\u001b\[[0-9;]*[A-Zm]/gi, '').replace(/\r/g, '');
    expect(Math.max(...plain.split('\n').map((text) => text.length))).toBeLessThanOrEqual(80);
    expect(written.at(-1)).toMatch(/0J$/);
  });
});
