// Memory over the number of Jobs, both axes logarithmic: a straight line is proportional growth.

import type { Measured } from './contender.ts';

const WIDTH = 640;
const HEIGHT = 320;
const LEFT = 70;
const RIGHT = 90;
const TOP = 30;
const BOTTOM = 50;
const MEGABYTE = 2 ** 20;

const STYLE = `
text { font: 12px system-ui, sans-serif; fill: #333 } .title { font-weight: 600; font-size: 13px } .faint { fill: #777 }
line { stroke: #ddd } polyline { fill: none; stroke-width: 2 }
.lapse { stroke: #0b7a75 } .incumbent { stroke: #b8bec6 } circle.lapse { fill: #0b7a75 } circle.incumbent { fill: #b8bec6 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .faint { fill: #999 } line { stroke: #444 } .lapse { stroke: #2fb5ae } .incumbent { stroke: #5b636d } circle.lapse { fill: #2fb5ae } circle.incumbent { fill: #5b636d } }`;

interface Axis {
  readonly least: number;
  readonly most: number;
  readonly ticks: readonly number[];
}

/** From the power of ten below the minimum to the one above the maximum. */
function axis(values: readonly number[]): Axis {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    least: low,
    most: high,
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
  };
}

const share = ({ least, most }: Axis, value: number) => (Math.log10(value) - least) / (most - least);

export function growthPicture(results: readonly Measured[], machine: string): string {
  const across = axis(results.map(({ jobs }) => jobs));
  const up = axis(results.map(({ rss }) => rss / MEGABYTE));
  const x = (jobs: number) => LEFT + share(across, jobs) * (WIDTH - LEFT - RIGHT);
  const y = (megabytes: number) => HEIGHT - BOTTOM - share(up, megabytes) * (HEIGHT - TOP - BOTTOM);
  const grid = [
    ...across.ticks.map(
      (n) =>
        `<text x="${x(n)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${n.toLocaleString('en')}</text>`,
    ),
    ...up.ticks.flatMap((n) => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(n)}" y2="${y(n)}"/>`,
      `<text x="${LEFT - 8}" y="${y(n) + 4}" text-anchor="end">${n.toLocaleString('en')} MB</text>`,
    ]),
  ];
  const lines = (['incumbent', 'lapse'] as const).flatMap((name) => {
    const points = results
      .filter(({ contender }) => contender === name)
      .map(({ jobs, rss }) => [x(jobs), y(rss / MEGABYTE)] as const);
    const last = points.at(-1);
    if (last === undefined) return [];
    return [
      `<polyline class="${name}" points="${points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ')}"/>`,
      ...points.map(
        ([px, py]) => `<circle class="${name}" cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="3"/>`,
      ),
      `<text x="${(last[0] + 8).toFixed(1)}" y="${(last[1] + 4).toFixed(1)}">${name}</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Resident memory over the number of finished Jobs">`,
    `<style>${STYLE}</style>`,
    '<text class="title" x="0" y="16">Resident memory over finished, waiting Jobs</text>',
    ...grid,
    ...lines,
    `<text class="faint" x="0" y="${HEIGHT - 6}">One made-up server per point. ${machine}</text>`,
    '</svg>',
    '',
  ].join('\n');
}
