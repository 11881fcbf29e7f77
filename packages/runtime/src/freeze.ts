// Cached objects are shared by everybody who reads them. In tests they are frozen, so that whoever writes to one is
// found by an exception and not by a strange bug somewhere else.

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
