// Renders a plan as one self-contained HTML page: no network, no fonts, no second file. Its Content-Security-Policy
// allows only this script and this style sheet, by their hashes, so that no name can become code.

import { createHash } from 'node:crypto';
import type { Plan } from '#forecast/plan';
import { legendOf } from './browser/colours.ts';
import type { PageData } from './browser/data.ts';
import { itemsOf } from './browser/model.ts';
import { lengthInWords, longTime } from './browser/times.ts';
import { pageData } from './data.ts';
import { escapeMarkup, jsonForScript } from './escape.ts';
import { pageScript } from './script.ts';
import { pageStyles } from './styles.ts';
import { svgOf } from './svg.ts';

export function planPage(plan: Plan): string {
  const data = pageData(plan);
  const [script, styles] = [pageScript(), pageStyles()];
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(styles)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escapeMarkup(`What will end in ${data.cluster}`)}</title>
<link rel="icon" href="data:,">
<style>${styles}</style>
</head>
<body>
${header(data)}
${toolbar()}
<main>
${picture(data)}
${LIST}
</main>
<div id="card" role="tooltip" hidden></div>
<p id="spoken" class="unseen" aria-live="polite"></p>
<noscript><div class="still">${svgOf(data, { theme: 'light' })}</div></noscript>
<script type="application/json" id="plan">${jsonForScript(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const count = (n: number): string => n.toLocaleString('en');

function header(data: PageData): string {
  const counts = { coming: 0, overdue: 0, held: 0, changes: 0 };
  for (const { state } of itemsOf(data)) counts[state] += 1;
  const chip = (state: string, number: number, words: string) =>
    `<button type="button" class="chip ${state}" id="state-${state}" aria-pressed="false"${
      number === 0 && state !== 'all' ? (state === 'changes' ? ' hidden' : ' disabled') : ''
    }><b>${count(number)}</b> ${words}</button>`;
  const length = lengthInWords(data.until - data.made);
  const all = data.rows.length;
  return `<header>
<div>
<h1>What will end</h1>
<p class="sub"><bdi>${escapeMarkup(data.cluster)}</bdi> · seen ${longTime(data.made)} · the next ${length}</p>
</div>
<div class="chips" role="group" aria-label="Which ends to show">
${chip('all', all, 'in all')}
${chip('coming', counts.coming, 'coming')}
${chip('overdue', counts.overdue, 'overdue')}
${chip('held', counts.held, 'held')}
${chip('changes', counts.changes, 'changing')}
${data.more > 0 ? `<span class="beyond">${count(data.more)} later</span>` : ''}
</div>
</header>
${unreadNote(data.unread)}`;
}

const MOST_UNREAD = 5;

/** Reports that the plan is incomplete. */
function unreadNote(unread: readonly string[]): string {
  if (unread.length === 0) return '';
  const items = unread.slice(0, MOST_UNREAD).map((what) => `<li><bdi>${escapeMarkup(what)}</bdi></li>`);
  const left = unread.length - items.length;
  if (left > 0) items.push(`<li>and ${count(left)} more</li>`);
  return `<div class="unread" role="note"><b>Could not be read</b>, and is not in the plan:<ul>${items.join('')}</ul></div>`;
}

function toolbar(): string {
  const grouping = ['kind', 'namespace', 'rule'].map(
    (by, index) =>
      `<label><input type="radio" name="by" id="by-${by}" value="${by}"${index === 0 ? ' checked' : ''}><span>${by}</span></label>`,
  );
  const filters = ['kind', 'namespace', 'rule'].map(
    (by) =>
      `<select id="filter-${by}" aria-label="Only this ${by}"><option value="-1">Every ${by}</option></select>`,
  );
  return `<div class="bar" role="group" aria-label="Filters and view">
<fieldset class="segments"><legend>Lanes by</legend>${grouping.join('')}</fieldset>
${filters.join('\n')}
<input id="search" type="search" placeholder="Search" aria-label="Search names and reasons" autocomplete="off" spellcheck="false">
<button type="button" id="clear" hidden>Clear</button>
<span class="space"></span>
<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="zoom-out" aria-label="Show more time" title="Show more time (−)">−</button>
<button type="button" id="whole" title="Show all (0)">All</button>
<button type="button" id="zoom-in" aria-label="Show less time" title="Show less time (+)">+</button>
</div>
<button type="button" id="theme" aria-label="Light or dark" title="Light or dark">◐</button>
</div>`;
}

const picture = (data: PageData): string => `<section class="left" aria-label="Timeline">
<div id="strip"><canvas id="overview" aria-hidden="true"></canvas></div>
<div class="stage">
<div id="picture" tabindex="0" role="application" aria-roledescription="timeline" aria-label="Timeline of ends" aria-describedby="keys">
<canvas id="canvas" aria-hidden="true"></canvas>
<div id="spacer"></div>
</div>
<div id="empty" hidden><svg viewBox="0 0 120 60" width="120" height="60" aria-hidden="true"><path d="M8 44h104" class="ground"/><path d="M34 44a26 26 0 0 1 52 0" class="sun"/></svg><p id="empty-why"></p></div>
</div>
<p id="keys" class="hint"><kbd>←</kbd> <kbd>→</kbd> next end <kbd>↑</kbd> <kbd>↓</kbd> lane <kbd>+</kbd> <kbd>−</kbd> zoom <kbd>Shift</kbd>+<kbd>←</kbd> <kbd>→</kbd> move <kbd>Enter</kbd> look closer <kbd>0</kbd> all <kbd>/</kbd> search</p>
<p class="legend">${legendOf(data)
  .map(({ colour, name }) => `<span><i class="dot c${colour}"></i><bdi>${escapeMarkup(name)}</bdi></span>`)
  .join('')}</p>
</section>`;

const LIST = `<aside class="right" aria-label="List of ends">
<h2>Ends <span id="shown" class="quiet" aria-live="polite"></span></h2>
<div id="list" role="listbox" tabindex="0" aria-label="Ends in the order of time"><div id="rows" role="presentation"></div></div>
<section id="details" aria-label="Details" aria-live="polite" hidden></section>
</aside>`;
