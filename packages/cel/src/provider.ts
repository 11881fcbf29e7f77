// How structural types of a schema reach the checker, the evaluator and the cost estimate.
// Values of such types are plain objects; a provider only describes them.

import type { CelType } from './types.ts';

export interface FieldType {
  readonly type: CelType;
  /** The property that holds the field, when it is spelled differently (`__dash__` and the like). */
  readonly property?: string;
}

/** Bounds of what `size()` can return. */
export interface SizeBounds {
  readonly min: number;
  /** Infinity when nothing bounds it. */
  readonly max: number;
}

export interface TypeProvider {
  /** True when `name` is a structural type of this provider. */
  hasStruct(name: string): boolean;
  /** The field, or undefined, which the checker reports as `undefined field 'x'`. */
  field(struct: string, field: string): FieldType | undefined;
  /**
   * The size of what stands at a path, for cost estimates: a variable, then field names, `@items`, `@keys`, `@values`.
   * undefined when the schema says nothing; `type` is what the checker found for it.
   */
  size?(path: readonly string[], type: CelType): SizeBounds | undefined;
}
