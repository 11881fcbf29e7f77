// Public modules for controllers that `lapse run --module` loads. An import of `lapse/runtime` in such a file
// resolves to the runtime of the running process, regardless of the file's location and installed packages, so that
// no second copy exists.

import { registerHooks } from 'node:module';

/** Named exports of this package, which imports itself by its name. */
export const PUBLIC_MODULES: readonly string[] = [
  'lapse/apiserver',
  'lapse/runtime',
  'lapse/lifecycle',
  'lapse/family',
  'lapse/sim',
  'lapse/testing',
];

/** Resolves imports of public modules to this process until the returned function is called. */
export function resolvePublicModules(): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      PUBLIC_MODULES.includes(specifier)
        ? next(specifier, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  });
  return () => hooks.deregister();
}
