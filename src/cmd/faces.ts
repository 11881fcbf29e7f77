// What controllers of other people may import from us. `lapse/runtime` in their files is the runtime of the process that
// loads them, wherever the file lies and whatever is installed there: there is never a second copy of it.

import { registerHooks } from 'node:module';

export const FACES: Readonly<Record<string, string>> = {
  'lapse/apiserver': '#apiserver/library',
  'lapse/runtime': '#runtime/library',
  'lapse/lifecycle': '#lifecycle/library',
  'lapse/family': '#controllers/family',
  'lapse/sim': '#sim/library',
  'lapse/testing': '#cmd/testing',
};

/** From now on, until the answer is called, imports of ours lead here. */
export function offerFaces(): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      Object.hasOwn(FACES, specifier)
        ? next(FACES[specifier]!, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  });
  return () => hooks.deregister();
}
