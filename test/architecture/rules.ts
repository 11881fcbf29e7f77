// Who may import whom, and which globals are reserved. read by test/architecture.test.ts.

import { dirname, join, normalize } from 'node:path';

/** Folder of src → folders it may import. Its own folder is always allowed. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[] | 'anything'>> = {
  base: [],
  api: ['base'],
  cel: ['base'],
  schema: ['base', 'api', 'cel'],
  client: ['base', 'api'],
  runtime: ['base', 'api', 'client'],
  lifecycle: ['base', 'api', 'cel', 'client', 'runtime'],
  helm: ['base', 'api', 'client'],
  checkpoint: ['base', 'api', 'client'],
  controllers: ['base', 'api', 'cel', 'schema', 'client', 'runtime', 'lifecycle', 'helm', 'checkpoint'],
  apiserver: ['base', 'api', 'cel', 'schema'],
  standins: ['base', 'api', 'client', 'runtime'],
  sim: ['base', 'api', 'client', 'runtime', 'apiserver', 'standins'],
  cmd: 'anything',
};

export const layerOf = (path: string): string => path.split('/')[1]!;

const IMPORT =
  /(?:^|[;\n])\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[;\n])\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

export const importsOf = (text: string): string[] =>
  [...withoutComments(text).matchAll(IMPORT)].map((m) => (m[1] ?? m[2] ?? m[3])!);

/** The layer an import leads to; undefined for packages and node modules. */
function targetLayer(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return specifier.slice(1).split('/')[0];
  if (specifier.startsWith('.')) return layerOf(normalize(join(dirname(path), specifier)));
  return undefined;
}

export function violations(path: string, text: string): string[] {
  const layer = layerOf(path);
  const allowed = MAY_IMPORT[layer] ?? [];
  const out: string[] = [];
  for (const specifier of importsOf(text)) {
    const target = targetLayer(path, specifier);
    if (target === undefined) {
      if (layer === 'controllers' && specifier.startsWith('node:'))
        out.push(`${path} imports ${specifier}: controllers do no I/O`);
      continue;
    }
    if (specifier.startsWith('.') && target !== layer) {
      out.push(`${path} imports ${specifier}: another room is entered by its name (#${target}/…)`);
    } else if (target !== layer && allowed !== 'anything' && !allowed.includes(target)) {
      out.push(`${path} imports ${specifier}: ${layer} may not import ${target}`);
    }
  }
  return out;
}

const RESERVED: readonly { pattern: RegExp; only: string; what: string }[] = [
  { pattern: /\bnew Date\b|\bDate\.\w+/, only: 'base', what: 'Date' },
  { pattern: /(?<![\w.#])(setTimeout|setInterval|setImmediate)\s*\(/, only: 'base', what: 'timers' },
  { pattern: /\bperformance\.\w+/, only: 'base', what: 'performance' },
  { pattern: /\bMath\.random\b|\brandomUUID\b/, only: 'base', what: 'chance' },
  { pattern: /\bprocess\.(env|argv)\b/, only: 'cmd', what: 'process.env and argv' },
];

export function bannedGlobals(path: string, text: string): string[] {
  const code = withoutStrings(withoutComments(text));
  return RESERVED.filter(({ pattern, only }) => layerOf(path) !== only && pattern.test(code)).map(
    ({ what, only }) => `${path} uses ${what}, which belongs to src/${only}`,
  );
}

const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/[^\n]*/g, '$1');
const withoutStrings = (text: string) => text.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
