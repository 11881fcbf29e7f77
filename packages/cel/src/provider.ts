// Describes the structural types of a schema to the checker, the evaluator and the cost estimate.
// Values of such types are plain objects.

import type { CelType } from './types.ts';

export interface FieldType {
  readonly type: CelType;
  /** The property that holds the field, if its name differs (`__dash__` and similar escapes). */
  readonly property?: string;
}

/** Bounds of the result of `size()`. */
export interface SizeBounds {
  readonly min: number;
  /** Infinity if unbounded. */
  readonly max: number;
}

export interface TypeProvider {
  /** Whether `name` is a structural type of this provider. */
  hasStruct(name: string): boolean;
  /** The field, or undefined, which the checker reports as `undefined field 'x'`. */
  field(struct: string, field: string): FieldType | undefined;
  /**
   * The size of the value at a path, for cost estimates: a variable, then field names, `@items`, `@keys`, `@values`.
   * Undefined if the schema declares none. `type` is the type the checker found.
   */
  size?(path: readonly string[], type: CelType): SizeBounds | undefined;
}
