// The script of the page, from the modules in browser/: followed from main.ts along their imports, without their types,
// joined into one script, so that the page needs no second file and no address.

import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import type * as page from './browser/main.ts';

/** In development the modules are TypeScript; in the published package they have been compiled. */
const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*['"]\.\/([\w-]+)\.(?:ts|js)['"];?/gm;
const EXPORT = /^export (?=(?:function|const) (\w+))/gm;

/** What begins when the page is shown. */
const START: keyof typeof page = 'start';

let made: string | undefined;

/** The same text every time. */
export function pageScript(): string {
  made ??= joinModules('main');
  return made;
}

/** Each module becomes a function that answers what it exports, after those it imports; a circle is an error. */
function joinModules(main: string): string {
  const parts: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const follow = (name: string): void => {
    if (state.get(name) === 'done') return;
    if (state.get(name) === 'open') throw new Error(`${name} imports itself by way of others`);
    state.set(name, 'open');
    const text = readModule(name);
    for (const [, , imported] of text.matchAll(IMPORT)) follow(imported!);
    const exported = [...text.matchAll(EXPORT)].map(([, what]) => what);
    const body = text.replace(
      IMPORT,
      (_, names: string, from: string) => `const {${renamed(names)}} = $${from};`,
    );
    parts.push(
      `const $${name} = (() => {\n${compact(body.replace(EXPORT, ''))}\nreturn { ${exported.join(', ')} };\n})();`,
    );
    state.set(name, 'done');
  };
  follow(main);
  return `'use strict';\n{\n${parts.join('\n')}\n$${main}.${START}();\n}`;
}

/** As imports name them, as an object is taken apart. Types leave empty places in the list. */
const renamed = (names: string): string =>
  names
    .split(',')
    .map((name) => name.trim().replace(/\s+as\s+/, ': '))
    .filter(Boolean)
    .join(', ');

function readModule(name: string): string {
  const text = readFileSync(new URL(`./browser/${name}${ENDING}`, import.meta.url), 'utf8');
  return ENDING === '.ts' ? withoutTypes(text) : text;
}

/** Node strips types in every run from sources already; asked by name it warns that this is new. Nobody needs to know. */
function withoutTypes(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Without comments on lines of their own and the space that types left behind. */
const compact = (text: string): string =>
  text
    .replace(/^[ \t]*\/\*\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replace(/^[ \t]*\/\/.*$/gm, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n');
