// The declared types of one schema for the CEL checker and cost estimator.

import type { FieldType, TypeProvider } from '@lapse/cel/provider';
import type { Decl, DeclField } from './declare.ts';

export function providerOf(root: Decl): TypeProvider {
  const structs = new Map<string, ReadonlyMap<string, DeclField>>();
  collect(root, structs);
  return {
    hasStruct: (name) => structs.has(name),
    field(struct, name): FieldType | undefined {
      const field = structs.get(struct)?.get(name);
      if (!field) return undefined;
      return { type: field.decl.type, ...(field.property === name ? {} : { property: field.property }) };
    },
    size(path) {
      const decl = follow(root, path.slice(1));
      return decl && { min: 0, max: decl.maxElements };
    },
  };
}

function collect(decl: Decl, structs: Map<string, ReadonlyMap<string, DeclField>>): void {
  if (decl.fields) {
    structs.set(decl.type.name, decl.fields);
    for (const field of decl.fields.values()) collect(field.decl, structs);
  }
  if (decl.element) collect(decl.element, structs);
}

const KEYS: Pick<Decl, 'maxElements'> = { maxElements: 3 * 1024 * 1024 - 2 };

/** The declaration at a path of field names, `@items`, `@values` and `@keys`. */
function follow(root: Decl, path: readonly string[]): Pick<Decl, 'maxElements'> | undefined {
  let at: Decl | undefined = root;
  for (const step of path) {
    if (step === '@keys') return at?.element && KEYS;
    at = step === '@items' || step === '@values' ? at?.element : at?.fields?.get(step)?.decl;
    if (!at) return undefined;
  }
  return at;
}
