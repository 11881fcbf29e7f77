// All figures in one table: a row per metric, a column per contender, and the ratio of Lapse to the best result of
// kube-controller-manager.

import { markdownTable, ratio } from '../table.ts';
import type { Burst } from './burst.ts';
import type { Contender } from './contenders.ts';
import type { Lateness } from './lateness.ts';
import type { Waiting } from './memory.ts';
import type { Race } from './race.ts';
import type { Spread } from './statistics.ts';

export interface Results {
  readonly bursts: readonly Burst[];
  readonly latenesses: readonly Lateness[];
  readonly races: readonly Race[];
  readonly waitings: readonly Waiting[];
}

const COLUMNS: readonly Contender['name'][] = ['incumbent', 'incumbent, tuned', 'lapse', 'raw DELETE loop'];

type Cell = { readonly shown: string; readonly value?: number } | undefined;
type Row = readonly [name: string, of: (contender: Contender['name']) => Cell];

const number = (value: number | undefined, digits = 0, unit = ''): Cell =>
  value === undefined
    ? undefined
    : {
        value,
        shown: `${value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })}${unit}`,
      };

const megabytes = (bytes: number | undefined): Cell =>
  number(bytes === undefined ? undefined : bytes / 2 ** 20, 0, ' MB');

function millis(value: number | undefined): Cell {
  if (value === undefined) return undefined;
  return Number.isFinite(value) ? number(value, 0, ' ms') : { shown: 'not in 20 s' };
}

const of = <T extends { readonly contender: string }>(rows: readonly T[], name: string): T | undefined =>
  rows.find(({ contender }) => contender === name);

function rowsOf({ bursts, latenesses, races, waitings }: Results): Row[] {
  const jobs = bursts.reduce((most, { deleted }) => Math.max(most, deleted), 0);
  const crowd = latenesses[0]?.crowd.expected ?? 0;
  const kept = waitings[0]?.jobs ?? 0;
  const show = (n: number) => n.toLocaleString('en');
  const late = (name: string, part: (l: Lateness) => Spread): Row[] => [
    [`${name}, p50`, (c) => millis(spread(c, part)?.p50)],
    [`${name}, p99`, (c) => millis(spread(c, part)?.p99)],
  ];
  const spread = (name: string, part: (l: Lateness) => Spread) => {
    const found = of(latenesses, name);
    return found === undefined ? undefined : part(found);
  };
  return [
    [
      `${show(jobs)} overdue Jobs, deletions/s`,
      (c) => number(of(bursts, c)?.rate, (of(bursts, c)?.rate ?? 0) < 100 ? 1 : 0),
    ],
    ['requests per deletion', (c) => number(of(bursts, c)?.requestsPerDeletion, 2)],
    ['CPU of the controller per deletion', (c) => number(of(bursts, c)?.controllerCpu, 2, ' ms')],
    ['CPU of the API server per deletion', (c) => number(of(bursts, c)?.serverCpu, 2, ' ms')],
    ...late('late, TTL 0, one every 100 ms', (l) => l.steady),
    ...late('late, 10 deadlines per second', (l) => l.timers),
    ...late(`late, ${show(crowd)} deadlines in one second`, (l) => l.crowd),
    [`memory with ${show(kept)} waiting Jobs`, (c) => megabytes(of(waitings, c)?.rss)],
    ['its peak', (c) => megabytes(of(waitings, c)?.peak)],
    ['start to synced', (c) => number(of(waitings, c)?.synced, 1, ' s')],
    ['CPU to synced', (c) => number(of(waitings, c)?.cpuToSync, 1, ' s')],
    ['CPU while idle', (c) => number(percent(of(waitings, c)?.idle), 1, ' %')],
    ['extensions accepted around the deadline', (c) => number(of(races, c)?.accepted)],
    ['of those, −5…+20 ms from it', (c) => number(of(races, c)?.near)],
    ['DELETEs refused by the API server for it', (c) => number(of(races, c)?.refused)],
    ['wrongful deletions (extended before)', (c) => number(of(races, c)?.wrongful)],
  ];
}

const percent = (share: number | undefined) => (share === undefined ? undefined : share * 100);

export function tableOf(results: Results): string {
  const measured = rowsOf(results)
    .map(([name, cellOf]) => ({ name, cells: COLUMNS.map(cellOf) }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined));
  const rows = measured.map(({ name, cells }) => {
    const lapse = cells[2]?.value;
    const against = cells[1]?.value ?? cells[0]?.value;
    const compared =
      lapse === undefined || against === undefined || against === 0 ? '' : ratio(lapse, against);
    return [name, ...cells.map((cell) => cell?.shown ?? '–'), compared];
  });
  return markdownTable(['', ...COLUMNS, 'lapse ÷ incumbent (tuned, if it ran)'], rows);
}
