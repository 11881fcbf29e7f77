// Merge metadata of fields from the Go structs: patchStrategy and patchMergeKey, level by level.

import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { BuiltinField, BuiltinTable } from './builtinTable.ts';
import { StrategicMergeError } from './strategicErrors.ts';
import { isScalar } from './typedScalars.ts';

export interface FieldMeta {
  /** Metadata of the map, or of the elements of the list. */
  meta: PatchMeta;
  /** `merge`, `replace` or empty. `retainKeys` is omitted: the directive is sufficient. */
  strategy: string;
  mergeKey: string;
}

export class PatchMeta {
  readonly #table: BuiltinTable;
  /** Name of a struct in the table, or undefined for `kind`. */
  readonly #struct: string | undefined;
  /** Go's reflect.Kind. */
  readonly kind: string;
  /** Go name, for structs the table does not describe. */
  readonly #name: string;

  private constructor(table: BuiltinTable, struct: string | undefined, kind: string, name: string) {
    this.#table = table;
    this.#struct = struct;
    this.kind = kind;
    this.#name = name;
  }

  static ofStruct(table: BuiltinTable, typeName: string): PatchMeta {
    return new PatchMeta(table, typeName, 'struct', table.types[typeName]!.go.replace(/^.*\./, ''));
  }

  field(key: string): FieldMeta {
    const field = this.#lookup(key);
    return { meta: field.map ? this.#ofKind('map') : this.#ofElement(field), ...tags(field) };
  }

  listField(key: string): FieldMeta {
    const field = this.#lookup(key);
    if (!field.list) throw new StrategicMergeError(`expected slice or array type, but got: ${this.kind}`);
    return { meta: this.#ofElement(field), ...tags(field) };
  }

  #lookup(key: string): BuiltinField {
    if (this.kind !== 'struct')
      throw new StrategicMergeError(
        `merging an object in json but data type is not struct, instead is: ${this.kind}`,
      );
    const fields = this.#struct === undefined ? {} : this.#table.types[this.#struct]!.fields;
    if (Object.hasOwn(fields, key)) return fields[key]!;
    // Go falls back to a name that differs only in case.
    const folded = Object.keys(fields).find((name) => name.toLowerCase() === key.toLowerCase());
    if (folded !== undefined) return fields[folded]!;
    throw new StrategicMergeError(
      `unable to find api field in struct ${this.#name} for the json field ${quoteGo(key)}`,
    );
  }

  #ofElement(field: BuiltinField): PatchMeta {
    if (!isScalar(field.t)) return PatchMeta.ofStruct(this.#table, field.t);
    const isStruct = /^[A-Z]/.test(field.t);
    return new PatchMeta(this.#table, undefined, isStruct ? 'struct' : field.t, field.t);
  }

  #ofKind(kind: string): PatchMeta {
    return new PatchMeta(this.#table, undefined, kind, '');
  }
}

function tags(field: BuiltinField): { strategy: string; mergeKey: string } {
  const strategy = (field.ps ?? '').split(',').find((s) => s !== 'retainKeys') ?? '';
  return { strategy, mergeKey: field.mk ?? '' };
}
