// What controllers of other people may import from us. `lapse/runtime` in their files is the runtime of the process that
// loads them, wherever the file lies and whatever is installed there: there is never a second copy of it.

import { registerHooks } from 'node:module';

/** Public exports of this package, which imports itself by its name. */
export const FACES: readonly string[] = [
  'lapse/apiserver',
  'lapse/runtime',
  'lapse/lifecycle',
  'lapse/family',
  'lapse/sim',
  'lapse/testing',
];

/** From now on, until the answer is called, imports of ours lead here. */
export function offerFaces(): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      FACES.includes(specifier)
        ? next(specifier, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  });
  return () => hooks.deregister();
}
