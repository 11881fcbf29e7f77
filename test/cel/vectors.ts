// Runs the conformance vectors of cel-spec through the engine. Used by the tests and by the generator of
// docs/reference/cel.md.

import type { Decl, Type } from '@bufbuild/cel-spec/cel/expr/checked_pb.js';
import type { SimpleTest } from '@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js';
import type { Value as SpecValue } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import { getTestRegistry } from '@bufbuild/cel-spec/testdata/registry.js';
import { getConformanceSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import type { Message } from '@bufbuild/protobuf';
import { type Any, anyUnpack } from '@bufbuild/protobuf/wkt';
import { type Bindings, compile, Environment, type Evaluation } from '@lapse/cel/cel';
import { type FunctionDecl, member, overload } from '@lapse/cel/declarations';
import { ALL_LIBRARIES } from '@lapse/cel/libraries';
import { type CelType, formatType } from '@lapse/cel/types';
import type { Value } from '@lapse/cel/values';
import { encode, fromSpec, typeFromSpec } from './specValues.ts';

export interface Vector {
  readonly suite: string;
  readonly section: string;
  readonly name: string;
  readonly test: SimpleTest;
}

export type VectorResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'skipped'; readonly why: string };

export function allVectors(): Vector[] {
  return getConformanceSuite().suites.flatMap((suite) =>
    suite.suites.flatMap((section) =>
      testsOf(section).map((test) => ({ suite: suite.name, section: section.name, ...test })),
    ),
  );
}

const testsOf = (s: IncrementalTestSuite): { name: string; test: SimpleTest }[] => [
  ...s.tests.map((t) => ({ name: t.original.name, test: t.original })),
  ...s.suites.flatMap(testsOf),
];

const MESSAGES = /\b(TestAllTypes|NestedTestAllTypes|NestedMessage|GlobalEnum|NestedEnum|TestRequired)\b/;

/** Why a vector is out of scope for the engine, or undefined. */
export function outOfScope({ test, suite }: Vector): string | undefined {
  const text = `${test.expr} ${test.container} ${JSON.stringify(test.typeEnv, (_, v) => (typeof v === 'bigint' ? `${v}` : v))}`;
  if (suite === 'enums') return 'protobuf enums';
  if (suite === 'proto2_ext' || /proto\.(has|get)Ext/.test(test.expr)) return 'protobuf extensions';
  if (MESSAGES.test(text)) return 'protobuf messages other than well-known types';
  if (/"wellKnown","value":1|protobuf\.Any"/.test(text)) return 'protobuf Any';
  if (/FieldMask|protobuf\.Empty/.test(text))
    return 'protobuf messages other than wrappers, Struct, Value, Timestamp, Duration';
  if (test.resultMatcher.case === 'unknown' || test.resultMatcher.case === 'anyUnknowns')
    return 'partial evaluation with unknowns';
  return undefined;
}

export function runVector(vector: Vector): VectorResult {
  const why = outOfScope(vector);
  if (why !== undefined) return { kind: 'skipped', why };
  try {
    return evaluateTest(vector.test);
  } catch (e) {
    return { kind: 'failed', why: `threw ${e instanceof Error ? e.stack : e}` };
  }
}

function evaluateTest(test: SimpleTest): VectorResult {
  const env = new Environment({
    libraries: [
      ...ALL_LIBRARIES,
      { name: 'declared by the vector', functions: test.typeEnv.flatMap(functionsOf) },
    ],
    variables: Object.fromEntries(test.typeEnv.map(declared).filter((d) => d !== undefined)),
    container: test.container,
    check: !test.disableCheck,
  });
  const compiled = compile(test.expr, env);
  const expected = test.resultMatcher;
  const wantsError = expected.case === 'evalError' || expected.case === 'anyEvalErrors';
  if (compiled.kind === 'invalid') {
    return wantsError ? { kind: 'passed' } : { kind: 'failed', why: compiled.message };
  }
  const deduced = expected.case === 'typedResult' ? expected.value.deducedType : undefined;
  if (deduced !== undefined) {
    const result = sameType(typeFromSpec(deduced), compiled.program.type);
    if (result.kind === 'failed' || test.checkOnly) return result;
  }
  if (test.checkOnly) return { kind: 'passed' };
  return sameResult(test, compiled.program.evaluate(bindingsOf(test)));
}

function sameType(expected: CelType, actual: CelType): VectorResult {
  const [e, a] = [formatType(expected), formatType(actual)];
  return e === a ? { kind: 'passed' } : { kind: 'failed', why: `type is ${a}, expected ${e}` };
}

function sameResult(test: SimpleTest, got: Evaluation): VectorResult {
  const expected = test.resultMatcher;
  const shown = got.kind === 'value' ? JSON.stringify(encode(got.value)) : `${got.kind}: ${got.message}`;
  if (expected.case === 'evalError' || expected.case === 'anyEvalErrors') {
    return got.kind === 'error'
      ? { kind: 'passed' }
      : { kind: 'failed', why: `got ${shown}, expected an error` };
  }
  const value = expected.case === 'typedResult' ? expected.value.result : expected.value;
  const wanted = JSON.stringify(
    value === undefined ? { bool: true } : encode(fromSpec(value as SpecValue, unpack)),
  );
  return shown === wanted ? { kind: 'passed' } : { kind: 'failed', why: `got ${shown}, expected ${wanted}` };
}

function declared(d: Decl): [string, CelType] | undefined {
  if (d.declKind.case !== 'ident') return undefined;
  return [d.name, typeFromSpec(d.declKind.value.type as Type)];
}

/** Functions that a vector declares exist for its type check only. */
function functionsOf(d: Decl): FunctionDecl[] {
  if (d.declKind.case !== 'function') return [];
  const overloads = d.declKind.value.overloads.map((o) => {
    const declare = o.isInstanceFunction ? member : overload;
    return declare(o.overloadId, o.params.map(typeFromSpec), typeFromSpec(o.resultType!), () => undefined);
  });
  return [{ name: d.name, overloads }];
}

function bindingsOf(test: SimpleTest): Bindings {
  const out: Record<string, Value> = {};
  for (const [name, bound] of Object.entries(test.bindings)) {
    if (bound.kind.case === 'value') out[name] = fromSpec(bound.kind.value, unpack);
  }
  return out;
}

function unpack(any: Any): Message | undefined {
  return anyUnpack(any, getTestRegistry());
}
