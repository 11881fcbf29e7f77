// Renders a plan as a static SVG for reports, chats and pages without scripts: the same lanes and marks as the page,
// without external style sheets, fonts or links. Every mark has its reason as a tooltip.

import type { Plan } from '#forecast/plan';
import { DARK, LIGHT, legendOf } from './browser/colours.ts';
import type { PageData } from './browser/data.ts';
import {
  type Grouping,
  heapOf,
  type Item,
  itemsOf,
  type Lane,
  lanesOf,
  type Mark,
  marksOf,
  type State,
  sizeOf,
} from './browser/model.ts';
import { lengthInWords, longTime, shortTime, ticksOf } from './browser/times.ts';
import { wholeOf } from './browser/view.ts';
import { pageData } from './data.ts';
import { escapeMarkup } from './escape.ts';

export interface SvgOptions {
  /** Pixels, from 640 to 4000. */
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
  readonly by?: Grouping;
  /** Maximum number of lanes. The rest is counted. */
  readonly lanes?: number;
}

interface Ink {
  readonly page: string;
  readonly stripe: string;
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly overdue: string;
  readonly kinds: readonly string[];
}

const INKS: Readonly<Record<'light' | 'dark', Ink>> = {
  light: {
    page: '#ffffff',
    stripe: '#f8f8f5',
    text: '#20242b',
    quiet: '#5f6772',
    line: '#e6e6e0',
    overdue: '#b3321f',
    kinds: LIGHT,
  },
  dark: {
    page: '#1b1f26',
    stripe: '#1f242c',
    text: '#e8eaee',
    quiet: '#9ca5b1',
    line: '#2a303a',
    overdue: '#ff9b88',
    kinds: DARK,
  },
};

const HEAD = 76;
const AXIS = 34;
const LANE = 44;
const LABELS = 196;
const GUTTER = 76;
/** Gap between an axis line and its label, and the maximum width of a character of the label. */
const LABEL_GAP = 5;
const LETTER = 7.5;

export const planSvg = (plan: Plan, options: SvgOptions = {}): string => svgOf(pageData(plan), options);

interface Sheet {
  readonly data: PageData;
  readonly ink: Ink;
  readonly width: number;
  readonly height: number;
  /** Height below the lanes, including a legend of kinds if the lanes do not name them. */
  readonly foot: number;
  readonly lanes: readonly Lane[];
  readonly hidden: readonly Lane[];
  /** Left and right edge of the time column. */
  readonly from: number;
  readonly to: number;
}

export function svgOf(data: PageData, options: SvgOptions = {}): string {
  const width = Math.min(4000, Math.max(640, Math.round(options.width ?? 1200)));
  const ink = INKS[options.theme ?? 'light'];
  const all = lanesOf(itemsOf(data), options.by ?? 'kind', data);
  const lanes = all.slice(0, Math.max(1, options.lanes ?? 20));
  const hidden = all.slice(lanes.length);
  const from = LABELS + (lanes.some(({ overdue }) => overdue.length > 0) ? GUTTER : 0);
  const to = width - (lanes.some(({ held }) => held.length > 0) ? GUTTER : 16);
  const rows = Math.max(1, lanes.length) + (hidden.length > 0 ? 1 : 0);
  const foot = options.by === undefined || options.by === 'kind' ? 14 : 40;
  const height = HEAD + AXIS + rows * LANE + foot;
  const sheet = { data, ink, width, height, foot, lanes, hidden, from, to };
  const title = escapeMarkup(`What will end in ${data.cluster}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${sheet.height}" width="${width}" height="${sheet.height}" role="img" aria-label="${title}" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<desc>${escapeMarkup(summaryOf(data))}</desc>`,
    `<rect width="${width}" height="${sheet.height}" rx="14" fill="${ink.page}"/>`,
    head(sheet),
    ...lanes.map((_, index) => stripe(sheet, index)),
    axis(sheet),
    ...lanes.map((lane, index) => laneOf(sheet, lane, index)),
    rest(sheet),
    legend(sheet),
    '</svg>',
  ].join('\n');
}

function summaryOf(data: PageData): string {
  const counts = { coming: 0, overdue: 0, held: 0, changes: 0 };
  for (const { state } of itemsOf(data)) counts[state] += 1;
  const parts = [
    `${counts.coming.toLocaleString('en')} deleted in the next ${lengthInWords(data.until - data.made)}`,
  ];
  if (counts.overdue > 0) parts.push(`${counts.overdue.toLocaleString('en')} overdue`);
  if (counts.held > 0) parts.push(`${counts.held.toLocaleString('en')} held`);
  if (counts.changes > 0) parts.push(`${counts.changes.toLocaleString('en')} changing`);
  if (data.more > 0) parts.push(`${data.more.toLocaleString('en')} later`);
  if (data.unread.length > 0) parts.push('not everything could be read');
  return parts.join(' · ');
}

function legend({ data, ink, width, height, foot }: Sheet): string {
  if (foot < 40) return '';
  let x = 24;
  return legendOf(data)
    .map(({ colour, name }) => {
      const words = shortened(name, 24);
      const at = x;
      x += 34 + words.length * 7;
      if (x > width) return '';
      const dot = `<circle cx="${at}" cy="${height - 18}" r="5" fill="${ink.kinds[colour]}"/>`;
      return dot + text(at + 11, height - 14, words, `fill="${ink.quiet}" font-size="12"`);
    })
    .join('\n');
}

function text(x: number, y: number, words: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escapeMarkup(words)}</text>`;
}

const round = (n: number): number => Math.round(n * 10) / 10;

function head({ data, ink }: Sheet): string {
  const cluster = shortened(data.cluster, 60);
  return [
    text(20, 34, summaryOf(data), `fill="${ink.text}" font-size="18" font-weight="600"`),
    text(20, 57, `${cluster} · seen ${longTime(data.made)}`, `fill="${ink.quiet}"`),
  ].join('\n');
}

function stripe({ ink, width }: Sheet, index: number): string {
  if (index % 2 === 1) return '';
  return `<rect y="${HEAD + AXIS + index * LANE}" width="${width}" height="${LANE}" fill="${ink.stripe}"/>`;
}

function axis({ data, ink, from, to, width, height, foot, lanes }: Sheet): string {
  const whole = wholeOf(data.made, data.until);
  const at = (time: number) => from + ((time - whole.from) / (whole.to - whole.from)) * (to - from);
  const bottom = height - foot;
  const out: string[] = [];
  for (const tick of ticksOf(whole.from, whole.to, to - from)) {
    const x = round(at(tick.at));
    out.push(`<path d="M${x} ${HEAD + AXIS - 8}V${bottom}" stroke="${ink.line}"/>`);
    const look = tick.strong ? `fill="${ink.text}" font-weight="600"` : `fill="${ink.quiet}"`;
    const isRoom = x + LABEL_GAP + tick.label.length * LETTER <= to;
    if (isRoom) out.push(text(x + LABEL_GAP, HEAD + 18, tick.label, `${look} font-size="12"`));
  }
  const made = round(at(data.made));
  out.push(
    `<path d="M${made} ${HEAD + AXIS - 8}V${bottom}" stroke="${ink.kinds[0]}" stroke-dasharray="3 4"/>`,
  );
  const column = (x: number, words: string, fill: string) =>
    text(x, HEAD + 18, words, `fill="${fill}" font-size="12" font-weight="600" text-anchor="middle"`);
  if (lanes.some(({ overdue }) => overdue.length > 0))
    out.push(column(from - GUTTER / 2, 'Overdue', ink.overdue));
  if (lanes.some(({ held }) => held.length > 0)) out.push(column(to + GUTTER / 2, 'Held', ink.quiet));
  out.push(`<path d="M0 ${HEAD + AXIS}H${width}" stroke="${ink.line}"/>`);
  return out.join('\n');
}

function laneOf(sheet: Sheet, lane: Lane, index: number): string {
  const { data, ink, from, to } = sheet;
  const y = HEAD + AXIS + index * LANE + LANE / 2;
  const overdue = heapOf(lane.overdue, from - GUTTER / 2);
  const held = heapOf(lane.held, to + GUTTER / 2);
  const coming = [lane.coming, lane.changes].flatMap((items) =>
    marksOf(items, wholeOf(data.made, data.until), to - from),
  );
  return [
    `<g>${text(20, y + 4.5, shortened(lane.label, 18), `fill="${ink.text}" font-weight="500"`)}`,
    text(
      LABELS - 12,
      y + 4.5,
      sizeOf(lane).toLocaleString('en'),
      `fill="${ink.quiet}" font-size="12" text-anchor="end"`,
    ),
    `<path d="M${from} ${y}H${to}" stroke="${ink.line}"/>`,
    ...(overdue ? [markOf(sheet, overdue, y)] : []),
    ...coming.map((mark) => markOf(sheet, { ...mark, x: from + mark.x }, y)),
    ...(held ? [markOf(sheet, held, y)] : []),
    '</g>',
  ].join('\n');
}

function markOf({ data, ink }: Sheet, { items, x, radius }: Mark, y: number): string {
  const [first] = items;
  const { state } = first!;
  const colour = state === 'overdue' ? ink.overdue : ink.kinds[first!.kind % ink.kinds.length]!;
  const isHollow = state === 'held' || state === 'changes';
  const look = isHollow
    ? `fill="${ink.page}" stroke="${colour}" stroke-width="2"`
    : `fill="${colour}" stroke="${ink.page}" stroke-width="1.5"`;
  const cx = round(x);
  const shape = shapeOf(state, cx, y, round(radius), look);
  const number =
    items.length > 1
      ? text(
          x,
          y + 4,
          shortCount(items.length),
          `fill="${isHollow ? ink.text : ink.page}" font-size="11" font-weight="600" text-anchor="middle"`,
        )
      : '';
  return `<g><title>${escapeMarkup(wordsOf(items, data))}</title>${shape}${number}</g>`;
}

/** As in the page: a circle, a diamond for an overdue item, a square for an item that only changes. */
function shapeOf(state: State, x: number, y: number, radius: number, look: string): string {
  if (state === 'changes')
    return `<rect x="${round(x - radius)}" y="${round(y - radius)}" width="${radius * 2}" height="${radius * 2}" rx="2" ${look}/>`;
  if (state !== 'overdue') return `<circle cx="${x}" cy="${y}" r="${radius}" ${look}/>`;
  const reach = round(radius * 1.4);
  return `<path d="M${x} ${round(y - reach)}l${reach} ${reach}l${-reach} ${reach}l${-reach} ${-reach}z" ${look}/>`;
}

const shortCount = (n: number): string => (n < 1000 ? String(n) : `${Math.floor(n / 1000)}k`);

function wordsOf(items: readonly Item[], data: PageData): string {
  const [first] = items;
  if (items.length > 1) {
    const times = items.flatMap(({ at }) => (at === null ? [] : [shortTime(at)]));
    const span = times.length === 0 ? '' : `, ${times[0]} to ${times.at(-1)}`;
    return `${items.length.toLocaleString('en')} ${first!.state}${span}`;
  }
  const place = data.namespaces[first!.namespace]!;
  const time = first!.at === null ? first!.state : longTime(first!.at);
  return `${data.kinds[first!.kind]} ${place}/${first!.name}: ${time}. ${first!.because}`;
}

const shortened = (words: string, most: number): string => {
  const letters = [...words];
  return letters.length <= most ? words : `${letters.slice(0, most - 1).join('')}…`;
};

function rest({ data, ink, lanes, hidden }: Sheet): string {
  const y = HEAD + AXIS + lanes.length * LANE + LANE / 2 + 4.5;
  if (lanes.length === 0) return text(20, y, 'Nothing is deleted in this time.', `fill="${ink.quiet}"`);
  if (hidden.length === 0) return '';
  const ends = hidden.reduce((sum, lane) => sum + sizeOf(lane), 0);
  return text(
    20,
    y,
    `and ${ends.toLocaleString('en')} more in ${hidden.length} lanes, until ${shortTime(data.until)}`,
    `fill="${ink.quiet}"`,
  );
}
