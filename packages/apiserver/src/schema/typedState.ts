// State of one run of the typed decoder: its position, the strict decoding errors, and the first type error, which Go
// saves while it decodes the rest.

import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { Json } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { DecodeError, MAX_STRICT_ERRORS } from './decodeError.ts';
import { conversionProblem, type GoKind } from './typedConvert.ts';

/** A struct field on the current path. */
export interface FieldStep {
  readonly name: string;
  /** Go name of its struct, without package: `JobSpec`. */
  readonly owner: string;
  /** Name with the enclosing embedded structs: `VolumeSource.emptyDir`. */
  readonly goPath: string;
}

/** A field, a list index, or a map key. */
type Step = FieldStep | number | string;

/** Deeper structs could overflow the stack (only JSON schemas are recursive). */
const MAX_STRUCT_DEPTH = 500;

export class DecodeState {
  readonly path: Step[] = [];
  readonly strict: string[] = [];
  readonly unknown: string[] = [];
  readonly notes: JsonNotes | undefined;
  /** The value is converted, not decoded; see typedConvert.ts. */
  readonly converting: boolean;
  firstError: string | undefined;
  /** Inside a type with its own decoder (which is not strict): the enclosing struct, which Go names in errors. */
  selfDecodingIn: string | undefined;
  #structDepth = 0;

  constructor(notes: JsonNotes | undefined, converting = false) {
    this.notes = notes;
    this.converting = converting;
  }

  get owner(): string {
    const step = this.path.findLast((s): s is FieldStep => typeof s === 'object');
    return step?.owner ?? '';
  }

  enterStruct(): void {
    if (++this.#structDepth > MAX_STRUCT_DEPTH) throw new DecodeError('json: exceeded max depth');
  }

  leaveStruct(): void {
    this.#structDepth--;
  }

  addUnknown(name: string): void {
    if (this.selfDecodingIn !== undefined) return;
    const path = this.#jsonPath(name);
    if (this.#addStrict(`unknown field ${quoteGo(path)}`)) this.unknown.push(path);
  }

  addDuplicate(name: string): void {
    if (this.selfDecodingIn === undefined)
      this.#addStrict(`duplicate field ${quoteGo(this.#jsonPath(name))}`);
  }

  #addStrict(text: string): boolean {
    if (this.strict.length >= MAX_STRICT_ERRORS || this.strict.includes(text)) return false;
    this.strict.push(text);
    return true;
  }

  #jsonPath(name: string): string {
    let path = '';
    for (const step of this.path) {
      if (typeof step === 'number') path += `[${step}]`;
      else path += (path === '' ? '' : '.') + (typeof step === 'string' ? step : step.name);
    }
    return path === '' ? name : `${path}.${name}`;
  }

  /** `json: cannot unmarshal number into Go struct field ConfigMap.data of type string` */
  typeError(value: string, goType: string): string {
    const fields = this.path.filter((step): step is FieldStep => typeof step === 'object');
    const last = fields.at(-1);
    if (last === undefined || this.converting)
      return `json: cannot unmarshal ${value} into Go value of type ${goType}`;
    const place = `${this.selfDecodingIn ?? last.owner}.${fields.map((f) => f.goPath).join('.')}`;
    return `json: cannot unmarshal ${value} into Go struct field ${place} of type ${goType}`;
  }

  /**
   * Reports a value of the wrong type: at the end if no fatal error precedes, or at once when converting. `word` is
   * Go's word for the value where its type is not sufficient (`number 1.5`).
   */
  wrongType(value: Json, goType: string, kind: GoKind, word = jsonWord(value)): void {
    if (this.converting) throw new DecodeError(conversionProblem(value, goType, kind));
    this.saveError(() => this.typeError(word, goType));
  }

  saveError(message: () => string): void {
    this.firstError ??= message();
  }

  /** The source text of a number that was not plain digits; otherwise undefined. */
  spelling(holder: object, key: string): string | undefined {
    const literals = this.notes?.literals;
    return literals === undefined || literals.size === 0 ? undefined : literals.get(holder)?.get(key);
  }
}

/** Go's name for the JSON type of a value. */
export function jsonWord(value: Json): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'object':
      return value === null ? 'null' : 'object';
    default:
      return 'number';
  }
}
