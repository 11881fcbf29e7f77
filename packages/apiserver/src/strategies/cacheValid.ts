// Pods of one template have the same spec: a spec without errors is cached by its text and not validated again.

import type { JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';

const MAX_CACHED = 300;
const MAX_CACHED_LENGTH = 8192;

/** Wraps a check; its result may depend only on the value and the path. */
export function cacheValid<T>(
  check: (value: JsonObject, path: string) => T[],
): (value: JsonObject, path: string) => T[] {
  const cache = new Set<string>();
  return (value, path) => {
    const text = writeJson(value);
    if (cache.has(text)) return [];
    const found = check(value, path);
    if (found.length === 0 && text.length <= MAX_CACHED_LENGTH) {
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.add(text);
    }
    return found;
  };
}
