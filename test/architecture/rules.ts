// Import rules that package.json cannot express, and the globals that only one place may read. Used by
// test/architecture.test.ts.

import { dirname, join, normalize } from 'node:path';

/** Folder of packages/lapse/src → folders of it that it may import. Its own folder is always allowed. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  api: [],
  authors: ['api', 'limits'],
  expiry: [],
  deletion: ['authors'],
  limits: ['api'],
  requests: ['api', 'authors', 'deletion'],
  helm: ['api', 'authors', 'deletion'],
  checkpoint: ['api'],
  trash: ['api', 'expiry', 'deletion', 'checkpoint'],
  controllers: ['api', 'authors', 'expiry', 'deletion', 'limits', 'requests', 'helm', 'checkpoint'],
  simulation: ['api'],
  manager: ['api', 'authors', 'expiry', 'deletion', 'requests', 'helm', 'checkpoint', 'trash', 'controllers'],
  forecast: ['api', 'expiry', 'deletion', 'requests', 'trash', 'controllers', 'simulation', 'manager'],
  console: ['controllers', 'forecast'],
  cli: [
    'api',
    'authors',
    'expiry',
    'deletion',
    'limits',
    'requests',
    'helm',
    'checkpoint',
    'trash',
    'controllers',
    'simulation',
    'manager',
    'forecast',
    'console',
  ],
  public: ['api', 'deletion', 'controllers', 'simulation', 'manager'],
};

/** Packages and modules that a layer of the product may not import although package.json lists them. */
const BARRED: Readonly<Record<string, RegExp>> = {
  api: /^@lapse\/(runtime|apiserver|simulation)\//,
  authors: /^@lapse\/(apiserver|simulation)\//,
  expiry: /^@lapse\/(apiserver|simulation)\//,
  deletion: /^@lapse\/(apiserver|simulation)\//,
  limits: /^@lapse\/(runtime|apiserver|simulation)\//,
  requests: /^@lapse\/(apiserver|simulation)\//,
  helm: /^@lapse\/(cel|runtime|apiserver|simulation)\//,
  checkpoint: /^@lapse\/(cel|runtime|apiserver|simulation)\//,
  // The table of built-in kinds is all that controllers need of the server.
  controllers: /^node:|^@lapse\/simulation\/|^@lapse\/apiserver\/(?!schema\/builtinTable$)/,
};

const IMPORT =
  /(?:^|[;\n])\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[;\n])\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

export const importsOf = (text: string): string[] =>
  [...withoutComments(text).matchAll(IMPORT)].map((m) => (m[1] ?? m[2] ?? m[3])!);

/** `packages/kube/src/client/watch.ts` is in the package kube, in the folder client; a file of src itself has no folder. */
export function placeOf(path: string): { readonly name: string; readonly folder: string } {
  const [, name = '', , ...rest] = path.split('/');
  return { name, folder: rest.length > 1 ? rest[0]! : '' };
}

/** The package that an import names: `@lapse/kube`, `undici`; undefined for files, folders and modules of Node. */
export function packageOf(specifier: string): string | undefined {
  if (/^([.#]|node:)/.test(specifier)) return undefined;
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)![0];
}

export interface Listed {
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function violations(path: string, text: string, manifest: Listed): string[] {
  return importsOf(text).flatMap((specifier) => {
    const why = whyBarred(path, specifier, manifest);
    return why === undefined ? [] : [`${path} imports ${specifier}: ${why}`];
  });
}

function whyBarred(path: string, specifier: string, manifest: Listed): string | undefined {
  const needed = packageOf(specifier);
  if (needed !== undefined && !Object.hasOwn(manifest.dependencies ?? {}, needed))
    return `package.json does not list ${needed}`;
  const { name, folder } = placeOf(path);
  const target = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : undefined;
  if (target !== undefined && !target.startsWith(`packages/${name}/`))
    return 'a relative path leaves the package';
  return name === 'lapse' ? whyBarredInProduct(path, folder, specifier, target) : undefined;
}

function whyBarredInProduct(
  path: string,
  folder: string,
  specifier: string,
  target: string | undefined,
): string | undefined {
  if (BARRED[folder]?.test(specifier)) return `${folder} may not import it`;
  const layer = target === undefined ? /^#(\w+)\//.exec(specifier)?.[1] : placeOf(target).folder;
  if (layer === undefined) return undefined;
  if (layer !== folder)
    return LAYERS[folder]?.includes(layer) ? undefined : `${folder} may not import ${layer}`;
  if (folder !== 'controllers' || target === undefined) return undefined;
  const [own, other] = [path, target].map((file) => file.split('/').slice(4, -1)[0]);
  return own !== undefined && other !== undefined && own !== other
    ? `the controller ${own} may not import the controller ${other}`
    : undefined;
}

const RESERVED: readonly { pattern: RegExp; only: string; what: string }[] = [
  { pattern: /\bnew Date\b|\bDate\.\w+/, only: 'packages/base/', what: 'Date' },
  {
    pattern: /(?<![\w.#])(setTimeout|setInterval|setImmediate)\s*\(/,
    only: 'packages/base/',
    what: 'timers',
  },
  { pattern: /\bperformance\.\w+/, only: 'packages/base/', what: 'performance' },
  { pattern: /\bMath\.random\b|\brandomUUID\b/, only: 'packages/base/', what: 'randomness' },
  { pattern: /\bprocess\.(env|argv)\b/, only: 'packages/lapse/src/cli/', what: 'process.env and argv' },
];

export function bannedGlobals(path: string, text: string): string[] {
  const code = withoutStrings(withoutComments(text));
  return RESERVED.filter(({ pattern, only }) => !path.startsWith(only) && pattern.test(code)).map(
    ({ what, only }) => `${path} uses ${what}, which belongs to ${only}`,
  );
}

const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/[^\n]*/g, '$1');
const withoutStrings = (text: string) => text.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
