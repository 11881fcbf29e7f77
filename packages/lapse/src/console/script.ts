// Builds the script of the page from the modules in browser/: follows the imports from main.ts, strips types and
// joins the modules into one script, so that the page needs no second file and no URL.

import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import type * as page from './browser/main.ts';

/** In development the modules are TypeScript. In the published package they are compiled. */
const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*['"]\.\/([\w-]+)\.(?:ts|js)['"];?/gm;
const EXPORT = /^export (?=(?:function|const) (\w+))/gm;

/** The export of main.ts that runs when the page is shown. */
const START: keyof typeof page = 'start';

let made: string | undefined;

/** Deterministic. */
export function pageScript(): string {
  made ??= joinModules('main');
  return made;
}

/** Each module becomes a function that returns its exports, after the modules it imports. A cycle is an error. */
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

/** Converts import names to destructuring. Removed types leave empty places in the list. */
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

/**
 * Node.js strips types when it runs the sources. Its API for this prints an experimental warning, which is
 * suppressed.
 */
function withoutTypes(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Removes comments on separate lines and the whitespace that types left behind. */
const compact = (text: string): string =>
  text
    .replace(/^[ \t]*\/\*\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replace(/^[ \t]*\/\/.*$/gm, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n');
