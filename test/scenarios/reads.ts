// Records which fields of an object a function reads, with a Proxy. Absent fields are recorded too.

/** Paths as `status.conditions[].type`; `labels.*` when the function listed the keys. */
export function readsOf<T extends object>(object: T, read: (seen: T) => void): Set<string> {
  const reads = new Set<string>();
  // Cloned, because a Proxy cannot replace the values of frozen objects.
  read(watched(structuredClone(object), '', reads));
  return reads;
}

/** Names with dots and slashes are quoted, as in `metadata.annotations["lapse.dev/ttl"]`. */
function join(at: string, name: string): string {
  if (!/^[\w*-]+$/.test(name)) return `${at}["${name}"]`;
  return at === '' ? name : `${at}.${name}`;
}

/** The steps of a path; undefined if it leads through a list. */
export function stepsOf(path: string): string[] | undefined {
  if (path.includes('[]')) return undefined;
  return [...path.matchAll(/\["([^"]*)"\]|([^.[\]"]+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
}

/** The container that the last step is taken from. */
export const aroundOf = (path: string): string => path.replace(/(\.[^.[\]"]+|\["[^"]*"\])$/, '');

function watched<T extends object>(target: T, at: string, reads: Set<string>): T {
  const pathOf = (name: string): string =>
    Array.isArray(target) && /^\d+$/.test(name) ? `${at}[]` : join(at, name);
  return new Proxy(target, {
    get(from, name, receiver) {
      const value: unknown = Reflect.get(from, name, receiver);
      if (typeof name === 'symbol' || typeof value === 'function' || name === 'toJSON') return value;
      if (Array.isArray(from) && name === 'length') return value;
      const path = pathOf(name);
      if (typeof value === 'object' && value !== null) return watched(value, path, reads);
      reads.add(path);
      return value;
    },
    has(from, name) {
      if (typeof name === 'string' && !Array.isArray(from)) reads.add(pathOf(name));
      return Reflect.has(from, name);
    },
    ownKeys(from) {
      if (!Array.isArray(from)) reads.add(join(at, '*'));
      return Reflect.ownKeys(from);
    },
  });
}
