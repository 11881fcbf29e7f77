// How deep an object may be nested, counted level by level: whoever walks it afterwards may use recursion.

/** No schema that an API server accepts comes near it. */
const MAX_DEPTH = 1000;

export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
