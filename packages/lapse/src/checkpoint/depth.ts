// Limits the nesting depth of an object, without recursion, so that later code may use recursion.

/** No schema that an API server accepts is nested nearly as deep. */
const MAX_DEPTH = 1000;

export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
