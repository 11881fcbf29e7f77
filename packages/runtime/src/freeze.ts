// Cached objects are shared by all readers. Tests freeze them, so that code that modifies a cached object throws an
// exception instead of causing a bug elsewhere.

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
