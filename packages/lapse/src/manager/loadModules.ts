// External controllers: `--module ./my-controller.ts`, whose default export is a definition, a list of definitions, a
// function of the services that returns either, or a complete family.

import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import type { Family, Services } from '#controllers/family';
import { resolvePublicModules } from './publicModules.ts';
import { UsageError } from './usage.ts';

type ControllerDefinitions = ControllerDefinition | readonly ControllerDefinition[];
export type ModuleExport = ControllerDefinitions | ((services: Services) => ControllerDefinitions);

export async function loadModules(files: readonly string[]): Promise<Family[]> {
  if (files.length === 0) return [];
  const withdraw = resolvePublicModules();
  try {
    return (await Promise.all(files.map(loadModule))).flat();
  } finally {
    withdraw();
  }
}

/** All families: built-in ones and those of modules. */
export function joinFamilies(ours: readonly Family[], theirs: readonly Family[]): readonly Family[] {
  const seen = new Set<string>();
  for (const { name } of [...ours, ...theirs]) {
    if (seen.has(name))
      throw new UsageError(`--module: there is another family of controllers called ${name}`);
    seen.add(name);
  }
  return [...ours, ...theirs];
}

/** For the flag, which may be repeated. */
export const collectModules = (file: string, before: readonly string[] = []): string[] => [...before, file];

async function loadModule(file: string): Promise<Family[]> {
  let loaded: { default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
  } catch (cause) {
    throw new UsageError(`--module ${file}: ${(cause as Error).message}`);
  }
  const exported = loaded.default;
  const name = basename(file).replace(/\.[^.]+$/, '');
  if (isFamily(exported)) return [exported];
  const isUsable = typeof exported === 'function' || listOf(exported).every(isDefinition);
  if (exported === undefined || !isUsable)
    throw new UsageError(`--module ${file}: needs "export default defineController({ … })"`);
  if (typeof exported !== 'function') for (const definition of listOf(exported)) checked(file, definition);
  return [familyOf(file, name, exported as ModuleExport)];
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

const has = (value: unknown, ...names: string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => name in value);
const isFamily = (value: unknown): value is Family => has(value, 'name', 'kinds', 'gates', 'create');
const isDefinition = (value: unknown): boolean => has(value, 'name', 'for', 'reconcile');

export function familyOf(file: string, name: string, exported: ModuleExport): Family {
  return {
    name,
    description: `the controllers of ${file}`,
    defaultOn: true,
    kinds: [],
    gates: [],
    configuration: {},
    create(services) {
      const definitions = typeof exported === 'function' ? exported(services) : exported;
      const controllers = listOf(definitions).map((definition) => checked(file, definition));
      return { controllers: controllers.map((one) => confined(one, services.namespace)), admission: [] };
    },
  };
}

function checked(file: string, definition: unknown): ControllerDefinition {
  if (!isDefinition(definition)) throw new UsageError(`--module ${file}: not a controller definition`);
  try {
    return defineController(definition as ControllerDefinition);
  } catch (cause) {
    throw new UsageError(`--module ${file}: ${(cause as Error).message}`);
  }
}

/** With `--namespace`, sources of namespaced kinds are restricted to it. */
function confined(definition: ControllerDefinition, namespace: string | undefined): ControllerDefinition {
  if (namespace === undefined) return definition;
  const watches = definition.watches?.map((watch) =>
    watch.kind.namespaced ? { ...watch, namespace } : watch,
  );
  return {
    ...definition,
    ...(definition.for.namespaced ? { namespace } : {}),
    ...(watches === undefined ? {} : { watches }),
  };
}
