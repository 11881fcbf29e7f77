// An environment: the names, functions, macros and types that a program may use, and its limits.
// Create one per kind of program and reuse it: compiled programs are cached by (source, environment).

import { MAX_PATTERN_SIZE } from '@lapse/base/patterns';
import type { FunctionDecl, Library } from './declarations.ts';
import { type Macro, type MacroTable, macroTable } from './macros.ts';
import type { TypeProvider } from './provider.ts';
import { type CelType, typeOf } from './types.ts';
import { TypeValue, type Value } from './values.ts';

export interface EnvironmentOptions {
  readonly libraries: readonly Library[];
  readonly variables?: Readonly<Record<string, CelType>>;
  readonly provider?: TypeProvider;
  /** Names are looked up in this namespace first, then in its parents. */
  readonly container?: string;
  /** Elements of list and map literals must have one type. Kubernetes: true. */
  readonly homogeneousLiterals?: boolean;
  /** Validate literal durations, timestamps and patterns at compile time. Kubernetes: true. */
  readonly validateLiterals?: boolean;
  /** How to treat a map literal with a repeated key: an error by the language, the last entry wins in Kubernetes. */
  readonly repeatedKeys?: 'error' | 'last';
  /** Whether has(), or a step after an optional, on a value that cannot have fields is an error. Kubernetes: false. */
  readonly strictPresence?: boolean;
  /**
   * Units of work (ten nanoseconds) per unit of cost. With 2, a million units of cost stay below 50 ms for any program.
   * Larger values come closer to Kubernetes, which limits cost only.
   */
  readonly workPerCost?: number;
  /** Whether has() costs a unit. Kubernetes: false. */
  readonly presenceTestCost?: boolean;
  /** Allow `a.`b-c``. */
  readonly escapedIdentifiers?: boolean;
  readonly maxCodePoints?: number;
  readonly maxRecursion?: number;
  /** Maximum nesting depth of the tree. Default: unlimited. */
  readonly maxDepth?: number;
  /** Maximum total compiled size of the regular expressions of a program, in units of @lapse/base/patternSize. */
  readonly maxPatternSize?: number;
  /** Whether programs must pass the type check. False only in tests of run-time errors. */
  readonly check?: boolean;
}

export interface Constant {
  readonly name: string;
  readonly type: CelType;
  readonly value: Value;
}

export class Environment {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: ReadonlyMap<string, FunctionDecl>;
  readonly constants: ReadonlyMap<string, Constant>;
  readonly macros: MacroTable;
  readonly provider: TypeProvider | undefined;
  readonly container: string;
  readonly options: Required<
    Pick<
      EnvironmentOptions,
      | 'homogeneousLiterals'
      | 'validateLiterals'
      | 'repeatedKeys'
      | 'strictPresence'
      | 'workPerCost'
      | 'presenceTestCost'
      | 'escapedIdentifiers'
      | 'maxCodePoints'
      | 'maxRecursion'
      | 'maxDepth'
      | 'maxPatternSize'
      | 'check'
    >
  > & { readonly optionalSyntax: boolean };

  constructor(given: EnvironmentOptions) {
    const { libraries } = given;
    this.variables = new Map(Object.entries(given.variables ?? {}));
    const { functions, constants, macros } = contentsOf(libraries);
    this.functions = functions;
    this.constants = constants;
    this.macros = macros;
    this.provider = given.provider;
    this.container = given.container ?? '';
    this.options = {
      homogeneousLiterals: given.homogeneousLiterals ?? false,
      validateLiterals: given.validateLiterals ?? false,
      repeatedKeys: given.repeatedKeys ?? 'error',
      strictPresence: given.strictPresence ?? true,
      workPerCost: given.workPerCost ?? 2,
      presenceTestCost: given.presenceTestCost ?? true,
      escapedIdentifiers: given.escapedIdentifiers ?? true,
      maxCodePoints: given.maxCodePoints ?? 100_000,
      maxRecursion: given.maxRecursion ?? 250,
      maxDepth: given.maxDepth ?? Number.POSITIVE_INFINITY,
      maxPatternSize: given.maxPatternSize ?? MAX_PATTERN_SIZE,
      check: given.check ?? true,
      optionalSyntax: libraries.some((l) => l.optionalSyntax === true),
    };
  }

  /** The names that `name` may refer to, most specific first. A leading dot means the root namespace. */
  candidates(name: string): string[] {
    if (name.startsWith('.')) return [name.slice(1)];
    if (this.container === '') return [name];
    const parts = this.container.split('.');
    const prefixes = parts.map((_, i) => parts.slice(0, parts.length - i).join('.'));
    return [...prefixes.map((p) => `${p}.${name}`), name];
  }
}

interface Contents {
  readonly functions: ReadonlyMap<string, FunctionDecl>;
  readonly constants: ReadonlyMap<string, Constant>;
  readonly macros: MacroTable;
}

const contents = new WeakMap<readonly Library[], Contents>();

/** The merged contents of a set of libraries, computed once: environments differ mostly in their variables. */
function contentsOf(libraries: readonly Library[]): Contents {
  const known = contents.get(libraries);
  if (known !== undefined) return known;
  const made: Contents = {
    functions: mergeFunctions(libraries),
    constants: new Map(libraries.flatMap((l) => l.constants ?? []).map((c) => [c.name, c])),
    macros: macroTable(libraries.flatMap((l): readonly Macro[] => l.macros ?? [])),
  };
  contents.set(libraries, made);
  return made;
}

export const typeConstant = (name: string, type: CelType): Constant => ({
  name,
  type: typeOf(type),
  value: new TypeValue(type),
});

/** Several libraries may add overloads to one function. */
function mergeFunctions(libraries: readonly Library[]): Map<string, FunctionDecl> {
  const merged = new Map<string, FunctionDecl>();
  for (const f of libraries.flatMap((l) => l.functions ?? [])) {
    const before = merged.get(f.name);
    const known = before?.overloads ?? [];
    const added = f.overloads.filter((o) => !known.some((b) => b.id === o.id));
    const work = Math.max(before?.work ?? 0, f.work ?? 0);
    merged.set(f.name, { name: f.name, overloads: [...known, ...added], cost: before?.cost ?? f.cost, work });
  }
  return merged;
}
