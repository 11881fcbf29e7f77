// The style sheet of the page, inlined: layout, colours of kinds, light and dark mode.

import { DARK, LIGHT } from './browser/colours.ts';

const variables = (colours: readonly string[], rest: string): string =>
  `${rest}${colours.map((colour, index) => `--c${index}:${colour};`).join('')}`;

const LIGHT_VARIABLES = variables(
  LIGHT,
  'color-scheme:light;--page:#f5f5f2;--surface:#ffffff;--stripe:#f8f8f5;--text:#20242b;--quiet:#5f6772;--line:#e6e6e0;--edge:#d5d6cf;--accent:#3563c9;--soft:#eaf0fd;--overdue:#b3321f;--overdue-soft:#fcece8;--shadow:0 1px 2px #0000000d,0 8px 28px #00000014;',
);
const DARK_VARIABLES = variables(
  DARK,
  'color-scheme:dark;--page:#14171c;--surface:#1b1f26;--stripe:#1f242c;--text:#e8eaee;--quiet:#9ca5b1;--line:#2a303a;--edge:#39414d;--accent:#8fb0ff;--soft:#263250;--overdue:#ff9b88;--overdue-soft:#41251f;--shadow:0 1px 2px #00000059,0 8px 28px #00000073;',
);

export const pageStyles = (): string =>
  `:root{${LIGHT_VARIABLES}}
@media (prefers-color-scheme:dark){:root{${DARK_VARIABLES}}}
:root[data-theme=light]{${LIGHT_VARIABLES}}
:root[data-theme=dark]{${DARK_VARIABLES}}
${LIGHT.map((_, index) => `.c${index}{--dot:var(--c${index})}`).join('')}
${RULES.trim()}`;

const RULES = `
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0;height:100vh;height:100dvh;display:flex;flex-direction:column;background:var(--page);color:var(--text);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}
h1{margin:0;font-size:24px;font-weight:650;letter-spacing:-.015em}
h2{margin:0;padding:14px 18px 10px;font-size:14px;font-weight:650}
.sub,.quiet,.hint,.beyond{color:var(--quiet)}
.sub{margin:2px 0 0}
header{display:flex;flex-wrap:wrap;gap:12px 28px;align-items:flex-end;justify-content:space-between;padding:20px 24px 14px}
.chips{display:flex;flex-wrap:wrap;gap:8px;align-items:center}
.beyond{padding:0 6px}
button,select,input[type=search]{font:inherit;color:inherit;background:var(--surface);border:1px solid var(--edge);border-radius:8px;min-height:34px;padding:4px 12px}
button{cursor:pointer}
button:hover:not(:disabled){border-color:var(--accent)}
button:disabled{cursor:default;color:var(--quiet);opacity:.55}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.chip{border-radius:99px;padding:4px 14px}
.chip b{font-weight:650}
.chip.overdue:not(:disabled) b{color:var(--overdue)}
.chip[aria-pressed=true]{background:var(--soft);border-color:var(--accent)}
.chip.overdue[aria-pressed=true]{background:var(--overdue-soft);border-color:var(--overdue)}
.unread{margin:0 24px 14px;padding:10px 16px;background:var(--overdue-soft);border:1px solid var(--overdue);border-radius:10px;overflow-wrap:anywhere}
.unread ul{margin:4px 0 0;padding-left:20px}
.bar{display:flex;flex-wrap:wrap;gap:8px;align-items:center;padding:0 24px 14px}
.bar select{max-width:172px;text-overflow:ellipsis}
.bar input[type=search]{flex:2 1 140px;min-width:140px;max-width:300px}
.space{flex:1}
.segments{display:flex;align-items:center;margin:0;padding:0;border:0}
.segments legend{float:left;padding:0 10px 0 0;color:var(--quiet)}
.segments label{position:relative;cursor:pointer}
.segments input{position:absolute;inset:0;margin:0;opacity:0;cursor:pointer}
.segments span{display:block;padding:6px 13px;border:1px solid var(--edge);margin-left:-1px;background:var(--surface)}
.segments label:first-of-type span{border-radius:8px 0 0 8px}
.segments label:last-of-type span{border-radius:0 8px 8px 0}
.segments input:checked+span{position:relative;background:var(--soft);border-color:var(--accent);font-weight:600}
.segments input:focus-visible+span{outline:2px solid var(--accent);outline-offset:2px}
.zoom{display:flex}
.zoom button{border-radius:0;margin-left:-1px;min-width:40px}
.zoom button:first-child{border-radius:8px 0 0 8px}
.zoom button:last-child{border-radius:0 8px 8px 0}
main{flex:1;min-height:0;display:grid;grid-template-columns:minmax(0,1fr) 390px;gap:16px;padding:0 24px 20px}
.left,.right{position:relative;min-height:0;display:flex;flex-direction:column;background:var(--surface);border:1px solid var(--line);border-radius:14px;overflow:hidden}
#strip{flex:none;height:56px;padding:4px 0;border-bottom:1px solid var(--line);cursor:ew-resize;touch-action:none}
#overview{display:block;height:48px}
#picture{isolation:isolate;flex:1;min-height:120px;overflow:hidden auto;position:relative;cursor:grab;touch-action:pan-y;user-select:none;overscroll-behavior:contain}
#picture:active{cursor:grabbing}
#picture[data-over=mark]{cursor:pointer}
#picture:focus-visible{outline-offset:-2px}
#canvas{position:sticky;top:0;display:block;z-index:-1}
.hint{flex:none;margin:0;padding:8px 16px;font-size:12px;border-top:1px solid var(--line)}
kbd{font:inherit;font-size:11px;padding:0 5px;border:1px solid var(--edge);border-radius:4px;margin-left:8px;background:var(--stripe)}
kbd+kbd{margin-left:0}
.legend{flex:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:0;padding:8px 16px;font-size:12px;border-top:1px solid var(--line);color:var(--quiet);max-height:54px;overflow:hidden}
.legend span{display:flex;align-items:center;gap:6px;min-width:0}
.legend bdi{max-width:180px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.legend:empty{display:none}
.stage{position:relative;flex:1;min-height:0;display:flex;flex-direction:column}
#empty{position:absolute;inset:0;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:6px;background:var(--surface);color:var(--quiet);font-size:16px}
#empty p{margin:0}
.ground{stroke:var(--edge);stroke-width:2;stroke-linecap:round}
.sun{fill:var(--soft);stroke:var(--accent);stroke-width:2}
#list{flex:1;min-height:120px;overflow-y:auto;position:relative;border-top:1px solid var(--line);overscroll-behavior:contain}
#list:focus-visible{outline-offset:-2px}
#rows{position:relative}
.row{position:absolute;left:0;right:0;height:58px;display:grid;grid-template-columns:14px minmax(0,1fr) auto;column-gap:10px;align-items:center;align-content:center;padding:0 18px;border-bottom:1px solid var(--line);cursor:pointer}
.row:hover{background:var(--stripe)}
.row.selected{background:var(--soft)}
.row-name,.row-place,.row-rule{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.row-name{font-weight:550}
.row-place,.row-rule{color:var(--quiet);font-size:12.5px}
.row-place{grid-column:2}
.row-rule{max-width:170px;justify-self:end}
.when{white-space:nowrap;font-size:12.5px;justify-self:end}
.when.overdue{color:var(--overdue);font-weight:600}
.when.held,.when.changes{color:var(--quiet)}
.dot{width:10px;height:10px;border-radius:50%;background:var(--dot);justify-self:center;flex:none}
.dot.overdue{border-radius:1px;background:var(--overdue);transform:rotate(45deg) scale(.85)}
.dot.changes{background:none;border:2px solid var(--dot);border-radius:2px}
.dot.held{background:none;border:2px solid var(--dot)}
#details{flex:none;max-height:46%;overflow:auto;border-top:1px solid var(--edge);padding:16px 18px;background:var(--stripe)}
#card{position:fixed;z-index:5;width:360px;max-width:calc(100vw - 16px);padding:14px 16px;background:var(--surface);border:1px solid var(--edge);border-radius:12px;box-shadow:var(--shadow);pointer-events:none}
.card-head{display:flex;align-items:baseline;gap:9px}
.card-head .dot{align-self:center}
.card-name{font-weight:650;flex:1;min-width:0;overflow-wrap:anywhere;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
.place{color:var(--quiet);font-size:12.5px;overflow-wrap:anywhere}
.because{margin:8px 0 10px;overflow-wrap:anywhere;max-height:9em;overflow:hidden}
dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:2px 14px;margin:0;font-size:12.5px}
dt{color:var(--quiet)}
dd{margin:0;overflow-wrap:anywhere}
.cascade-title{margin:10px 0 3px;padding-top:9px;border-top:1px solid var(--line);font-size:12.5px;font-weight:600}
.cascade,.crowd{list-style:none;margin:0;padding:0;font-size:12.5px}
.cascade li{padding-left:calc(var(--depth,0)*14px);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.dependent-kind{color:var(--quiet)}
.crowd{margin:6px 0;display:flex;flex-wrap:wrap;gap:2px 14px}
.first{list-style:none;margin:6px 0 8px;padding:6px 0 0;border-top:1px solid var(--line);font-size:12.5px}
.first li{display:flex;gap:9px;align-items:center}
.first bdi{flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.still{padding:0 24px 20px}
.still svg{max-width:100%;height:auto}
@media (max-width:1000px){body{height:auto}main{grid-template-columns:minmax(0,1fr)}#picture{height:56vh;flex:none}#list{height:60vh;flex:none}.hint{display:none}}
@media (scripting:none){.bar,.chips,main{display:none}body{height:auto}}
@media (prefers-contrast:more){:root{--line:currentColor;--edge:currentColor;--quiet:var(--text)}}
@media print{body{height:auto}.bar,.hint{display:none}#list{overflow:visible}}
`;
