// Property names as CEL identifiers: reserved words and other characters are escaped with underscores.

const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return'.split(
    ' ',
  ),
);
const ALLOWED = /^[A-Za-z_][A-Za-z0-9_./-]*$/;

/** Undefined when a name cannot be escaped: rules cannot access such a property. */
export function escapeName(name: string): string | undefined {
  if (!ALLOWED.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
