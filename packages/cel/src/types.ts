// The CEL types of the checker, and their names in error messages.
// A type is immutable. Structural types of a schema are `struct` types that a TypeProvider knows by name.

export type TypeKind =
  | 'dyn'
  | 'any'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'param';

/** How a list declared by a Kubernetes schema compares and concatenates. */
export type ListSemantics =
  | { readonly kind: 'set' }
  | { readonly kind: 'map'; readonly keys: readonly string[] };

export class CelType {
  readonly kind: TypeKind;
  readonly name: string;
  readonly params: readonly CelType[];
  /** A primitive that may also be null, like the protobuf wrapper messages. */
  readonly nullable: boolean;
  readonly semantics: ListSemantics | undefined;

  constructor(
    kind: TypeKind,
    name: string,
    params: readonly CelType[] = [],
    nullable = false,
    semantics?: ListSemantics,
  ) {
    this.kind = kind;
    this.name = name;
    this.params = params;
    this.nullable = nullable;
    this.semantics = semantics;
  }
}

const simple = (kind: TypeKind, name: string = kind) => new CelType(kind, name);

export const DYN = simple('dyn');
export const ANY = simple('any', 'google.protobuf.Any');
export const ERROR = simple('error', '!error!');
export const NULL = simple('null', 'null_type');
export const BOOL = simple('bool');
export const INT = simple('int');
export const UINT = simple('uint');
export const DOUBLE = simple('double');
export const STRING = simple('string');
export const BYTES = simple('bytes');
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp');
export const DURATION = simple('duration', 'google.protobuf.Duration');
export const TYPE = simple('type');

export const listOf = (element: CelType, semantics?: ListSemantics): CelType =>
  new CelType('list', 'list', [element], false, semantics);
export const mapOf = (key: CelType, value: CelType): CelType => new CelType('map', 'map', [key, value]);
export const structOf = (name: string): CelType => new CelType('struct', name);
export const opaque = (name: string, ...params: CelType[]): CelType => new CelType('opaque', name, params);
export const optionalOf = (inner: CelType): CelType => opaque('optional_type', inner);
export const typeOf = (inner: CelType): CelType => new CelType('type', 'type', [inner]);
export const param = (name: string): CelType => new CelType('param', name);
export const nullable = (inner: CelType): CelType => new CelType(inner.kind, inner.name, inner.params, true);

export const isOptional = (t: CelType): boolean => t.kind === 'opaque' && t.name === 'optional_type';
export const isDyn = (t: CelType): boolean => t.kind === 'dyn' || t.kind === 'any';
export const isDynOrError = (t: CelType): boolean => t.kind === 'error' || isDyn(t);

/** The inner type of an optional, otherwise the type itself. */
export const unwrapOptional = (t: CelType): CelType => (isOptional(t) ? t.params[0]! : t);

/** Structural identity. No type is a wildcard. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.nullable !== b.nullable) return false;
  return a.params.length === b.params.length && a.params.every((p, i) => sameType(p, b.params[i]!));
}

const SPELLING: Partial<Record<TypeKind, string>> = {
  any: 'any',
  null: 'null',
  timestamp: 'timestamp',
  duration: 'duration',
};

/** A type as cel-go prints it in messages: `list(map(string, dyn))`, `wrapper(int)`. */
export function formatType(t: CelType): string {
  const fixed = SPELLING[t.kind];
  if (fixed !== undefined) return fixed;
  const name = t.params.length === 0 ? t.name : `${t.name}(${t.params.map(formatType).join(', ')})`;
  return t.nullable ? `wrapper(${name})` : name;
}

/** A call as in messages: `(int, string)`, or `string.(int)` for a member call. */
export function formatSignature(args: readonly CelType[], member: boolean): string {
  const shown = args.map(formatType);
  return member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
}
