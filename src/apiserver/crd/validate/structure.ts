// Whether a schema is structural. Until the schema engine is here, every schema is taken to be.
import type { FieldError } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';
export interface StructureVerdict {
  readonly errors: FieldError[];
  readonly unreadable: FieldError[];
  readonly checked: boolean;
}
export function validateStructure(
  _schema: JsonObject,
  _path: string,
  _options: { prunedDefaults: boolean; defaults?: boolean },
): StructureVerdict {
  return { errors: [], unreadable: [], checked: true };
}
export const isStructural = (_schema: JsonObject): boolean => true;
export const hasUnprunedDefaults = (_schema: JsonObject): boolean => false;
