// The main rows of the table as a picture for the README: bars with one scale per row, readable on light and dark
// pages.

import type { Results } from './report.ts';

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly shown: string;
  readonly ours: boolean;
}
interface Panel {
  readonly title: string;
  readonly better: 'more is better' | 'less is better';
  readonly bars: readonly Bar[];
}

const WIDTH = 760;
const LABELS = 150;
const LENGTH = 470;
const ROW = 22;
const HEAD = 34;
const GAP = 16;

const isOurs = (name: string) => name === 'lapse';
const bar = (label: string, value: number, shown: string): Bar => ({
  label,
  value,
  shown,
  ours: isOurs(label),
});
const whole = (n: number) => Math.round(n).toLocaleString('en');

function panelsOf({ bursts, latenesses, races, waitings }: Results): Panel[] {
  return [
    {
      title: `${whole(Math.max(...bursts.map(({ deleted }) => deleted)))} overdue Jobs: deletions per second`,
      better: 'more is better',
      bars: bursts.map(({ contender, rate }) =>
        bar(contender, rate, rate < 100 ? rate.toFixed(1) : whole(rate)),
      ),
    },
    {
      title: 'Requests per deletion',
      better: 'less is better',
      bars: bursts
        .filter(({ contender }) => contender !== 'raw DELETE loop')
        .map(({ contender, requestsPerDeletion: n }) => bar(contender, n, n.toFixed(2))),
    },
    {
      title: `${whole(latenesses[0]?.crowd.expected ?? 0)} deadlines in one second: the last percent is late by`,
      better: 'less is better',
      bars: latenesses
        .filter(({ crowd }) => Number.isFinite(crowd.p99))
        .map(({ contender, crowd }) => bar(contender, crowd.p99, `${(crowd.p99 / 1000).toFixed(2)} s`)),
    },
    {
      title: `Memory with ${whole(waitings[0]?.jobs ?? 0)} waiting Jobs`,
      better: 'less is better',
      bars: waitings.map(({ contender, rss }) => bar(contender, rss, `${whole(rss / 2 ** 20)} MB`)),
    },
    {
      title: 'Deleted although its TTL had been extended in time',
      better: 'less is better',
      bars: races.map(({ contender, wrongful, accepted }) =>
        bar(contender, wrongful, `${whole(wrongful)} of ${whole(accepted)}`),
      ),
    },
  ];
}

function panelSvg({ title, better, bars }: Panel, top: number): string {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const lines = bars.map(({ label, value, shown, ours }, i) => {
    const y = top + HEAD + i * ROW;
    const length = Math.max(2, (value / most) * LENGTH);
    return [
      `<text class="label" x="${LABELS - 8}" y="${y + 13}" text-anchor="end">${label}</text>`,
      `<rect class="${ours ? 'ours' : 'theirs'}" x="${LABELS}" y="${y + 2}" width="${length.toFixed(1)}" height="${ROW - 7}" rx="2"/>`,
      `<text class="value" x="${(LABELS + length + 6).toFixed(1)}" y="${y + 13}">${shown}</text>`,
    ].join('\n');
  });
  return [
    `<text class="title" x="0" y="${top + 20}">${title} <tspan class="better">(${better})</tspan></text>`,
    ...lines,
  ].join('\n');
}

const STYLE = `
text { font: 12px system-ui, sans-serif; fill: #333 }
.title { font-weight: 600; font-size: 13px }
.better { font-weight: 400; fill: #777 }
.ours { fill: #0b7a75 } .theirs { fill: #b8bec6 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .better { fill: #999 } .ours { fill: #2fb5ae } .theirs { fill: #5b636d } }`;

export function pictureOf(results: Results, machine: string): string {
  let top = 0;
  const measured = panelsOf(results).filter(({ bars }) => bars.length > 0);
  const panels = measured.map((panel) => {
    const svg = panelSvg(panel, top);
    top += HEAD + panel.bars.length * ROW + GAP;
    return svg;
  });
  const height = top + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Lapse beside kube-controller-manager's ttl-after-finished controller">`,
    `<style>${STYLE}</style>`,
    ...panels,
    `<text class="better" x="0" y="${height - 4}">One real API server, one run. ${machine}</text>`,
    '</svg>',
    '',
  ].join('\n');
}
