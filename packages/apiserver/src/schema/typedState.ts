// What one run of the typed decoder carries along: where it is, what strict decoding would complain about, and the
// first type error, which Go remembers while it decodes the rest.

import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { Json } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { DecodeError, MAX_STRICT_ERRORS } from './decodeError.ts';
import { conversionProblem, type GoKind } from './typedConvert.ts';

/** A field of a struct on the way down. */
export interface FieldStep {
  readonly name: string;
  /** Go name of the struct it is in, without package: `JobSpec`. */
  readonly owner: string;
  /** Name with those of the embedded structs before it: `VolumeSource.emptyDir`. */
  readonly goPath: string;
}

/** A field, the index in a list, or the key in a map. */
type Step = FieldStep | number | string;

/** Structs nested deeper than this (only JSON schemas can be) would endanger the stack. */
const MAX_STRUCT_DEPTH = 500;

export class DecodeState {
  readonly path: Step[] = [];
  readonly strict: string[] = [];
  readonly unknown: string[] = [];
  readonly notes: JsonNotes | undefined;
  /** The value is converted, not decoded; see typedConvert.ts. */
  readonly converting: boolean;
  firstError: string | undefined;
  /**
   * Inside a type that decodes itself (with a decoder of its own, which is not strict): the struct that holds it, which
   * is the one Go names in errors.
   */
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
   * A value of the wrong type: reported at the end unless something fatal comes before, or at once when converting.
   * `word` is Go's word for the value where its type does not say enough (`number 1.5`).
   */
  wrongType(value: Json, goType: string, kind: GoKind, word = jsonWord(value)): void {
    if (this.converting) throw new DecodeError(conversionProblem(value, goType, kind));
    this.saveError(() => this.typeError(word, goType));
  }

  saveError(message: () => string): void {
    this.firstError ??= message();
  }

  /** The source text of a number that was not plain digits; undefined when it was. */
  spelling(holder: object, key: string): string | undefined {
    const literals = this.notes?.literals;
    return literals === undefined || literals.size === 0 ? undefined : literals.get(holder)?.get(key);
  }
}

/** Go's word for the JSON type of a value. */
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
