// Tests of the public API: compiling once, several errors at once, positions, budgets, environments.

import { describe, expect, it } from 'vitest';
import {
  type Bindings,
  compile,
  conditionEnvironment,
  DYN,
  type Environment,
  formatType,
  INT,
  kubernetesEnvironment,
  listOf,
  millisFromTimestamp,
  parseTimestamp,
  describe as show,
  timestampFromMillis,
} from './cel.ts';

const env = conditionEnvironment({ x: DYN });

function evaluate(text: string, bindings: Bindings = {}, environment: Environment = env): string {
  const compiled = compile(text, environment);
  if (compiled.kind === 'invalid') return compiled.message;
  const outcome = compiled.program.evaluate(bindings);
  return outcome.kind === 'value' ? show(outcome.value) : `${outcome.kind}: ${outcome.message}`;
}

describe('compile', () => {
  it('caches programs by text and environment', () => {
    const other = conditionEnvironment({ x: DYN });
    expect(compile('x.a', env)).toBe(compile('x.a', env));
    expect(compile('x.a', env)).not.toBe(compile('x.a ', env));
    expect(compile('x.a', env)).not.toBe(compile('x.a', other));
    expect(compile('x.', env)).toBe(compile('x.', env));
  });

  it('reports all errors in order of position, with a caret under each', () => {
    expect(evaluate('y == 1 &&\n  z.foo() > 2')).toBe(
      [
        "ERROR: <input>:1:1: undeclared reference to 'y' (in container '')",
        ' | y == 1 &&',
        ' | ^',
        "ERROR: <input>:2:3: undeclared reference to 'z' (in container '')",
        ' |   z.foo() > 2',
        ' | ..^',
        "ERROR: <input>:2:8: undeclared reference to 'foo' (in container '')",
        ' |   z.foo() > 2',
        ' | .......^',
      ].join('\n'),
    );
  });

  it('counts columns in code points, and pads carets for wide characters', () => {
    expect(evaluate("'😀é' == y")).toBe(
      "ERROR: <input>:1:9: undeclared reference to 'y' (in container '')\n | '😀é' == y\n | .．．.....^",
    );
  });

  it('knows the result type and the variables that are read', () => {
    const compiled = compile('x.items.map(i, size(i)) + [1]', env);
    if (compiled.kind === 'invalid') throw new Error(compiled.message);
    expect(formatType(compiled.program.type)).toBe('list(int)');
    expect(compiled.program.variables).toEqual(['x']);
  });

  it('distinguishes errors of the type check from constant parts that always fail', () => {
    const kubernetes = kubernetesEnvironment({});
    expect(compile('1 + "a"', kubernetes)).toMatchObject({ kind: 'invalid', stage: 'check' });
    const failing = compile('int("abc") == 1', kubernetes);
    expect(failing).toMatchObject({
      kind: 'invalid',
      stage: 'program',
      message: "type conversion error from 'string' to 'int'",
    });
    expect(failing.kind === 'invalid' && failing.issues[0]).toMatchObject({ line: 1, column: 4 });
    expect(evaluate('int("abc") == 1')).toBe("error: type conversion error from 'string' to 'int'");
  });
});

describe('evaluate', () => {
  it('an unbound variable is an error only if it is read', () => {
    expect(evaluate('x == 1')).toBe('error: no such attribute(s): x');
    expect(evaluate('true || x == 1')).toBe('true');
    expect(evaluate('x == null', { x: null })).toBe('true');
  });

  it('counts the cost and stops at the limit', () => {
    const compiled = compile('x.all(i, i > 0)', conditionEnvironment({ x: listOf(INT) }));
    if (compiled.kind === 'invalid') throw new Error(compiled.message);
    const x = [1, 2, 3];
    expect(compiled.program.evaluate({ x })).toEqual({ kind: 'value', value: true, cost: 17 });
    expect(compiled.program.evaluate({ x }, 17).kind).toBe('value');
    expect(compiled.program.evaluate({ x }, 16)).toMatchObject({
      kind: 'exhausted',
      message: 'operation cancelled: actual cost limit exceeded',
    });
  });

  it('evaluations are independent of each other', () => {
    const compiled = compile('cel.bind(y, x + 1, [y, y].map(z, z * x))', env);
    if (compiled.kind === 'invalid') throw new Error(compiled.message);
    const first = compiled.program.evaluate({ x: 2 });
    expect(compiled.program.evaluate({ x: 3 })).toMatchObject({ value: [12, 12] });
    expect(first).toMatchObject({ value: [6, 6] });
  });
});

describe('environments', () => {
  it.each<[text: string, condition: string, kubernetes: string]>([
    ['{1: 2, 1: 3}', 'error: Failed with repeated key: 1', '{1: 3}'],
    ['duration("1.5s").getMilliseconds()', '500', '1500'],
    ['"%s".format([[1.5, "a"]])', '"[1.5, a]"', '"[1.500000, \\"a\\"]"'],
    ['"abc".indexOf("c", 9)', 'error: index out of range: 9', '-1'],
    [
      '[1, "a"]',
      '[1, "a"]',
      "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"]\n | ....^",
    ],
    ['cel.bind(y, 1, y + 1)', '2', expect.stringContaining('undeclared reference') as unknown as string],
  ])('%s', (text, condition, kubernetes) => {
    expect(evaluate(text)).toBe(condition);
    expect(evaluate(text, {}, kubernetesEnvironment({}))).toEqual(kubernetes);
  });

  it('conditions support the sort functions of the upstream Cleaner', () => {
    const x = [{ n: 3 }, { n: 1 }, { n: 2 }];
    expect(evaluate('x.sort_by(e, e.n).map(e, e.n)', { x })).toBe('[1, 2, 3]');
    expect(evaluate('x.sort_by(e, e.n).reverse_list().map(e, e.n)', { x })).toBe('[3, 2, 1]');
    expect(evaluate('x.sort_by(e, e.n)[0].n', { x: [{ n: 'a' }, { n: 1 }] })).toBe(
      'error: list elements must have the same type',
    );
    const times = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00Z'];
    expect(evaluate('x.sort_by(e, timestamp(e))', { x: times })).toBe(
      `["${times[2]}", "${times[1]}", "${times[0]}"]`,
    );
  });

  it('JSON integers are ints', () => {
    const x = { replicas: 2, ratio: 0.5, big: 2n ** 60n };
    expect(evaluate('x.replicas + 1 == 3 && x.replicas % 2 == 0 && type(x.replicas) == int', { x })).toBe(
      'true',
    );
    expect(evaluate('type(x.ratio) == double && x.ratio * 2.0 == 1.0', { x })).toBe('true');
    expect(evaluate('x.big + 1', { x })).toBe('1152921504606846977');
  });

  it('timestamps keep nanosecond precision on input and output', () => {
    const time = timestampFromMillis(1_767_225_600_123);
    expect(evaluate('time', { time })).toBe('timestamp("2026-01-01T00:00:00.123Z")');
    expect(millisFromTimestamp(time)).toBe(1_767_225_600_123);
    expect(parseTimestamp('2026-01-01T00:00:00.123Z')).toEqual(time);
    expect(evaluate('time - timestamp("2026-01-01T00:00:00Z") == duration("123ms")', { time })).toBe('true');
  });
});
