// The format of generated data: compact, in a fixed order, one entry per line, so that diffs are readable.

/** Without the entries whose value is undefined. */
export function definedOnly<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;
}

export function sortedByKey<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** JSON in which the outer `depth` levels have a line per entry and everything below is on that line. */
export function stringifyByLine(value: unknown, depth: number, indent = ''): string {
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent} `;
  const below = (child: unknown) => stringifyByLine(child, depth - 1, inner);
  const lines = Array.isArray(value)
    ? value.map(below)
    : Object.entries(value).map(([key, child]) => `${JSON.stringify(key)}: ${below(child)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (lines.length === 0) return open + close;
  return `${open}\n${lines.map((line) => inner + line).join(',\n')}\n${indent}${close}`;
}
