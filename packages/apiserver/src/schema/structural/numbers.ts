// Numeric constraints. Whole values are compared as int64 with bounds truncated to int64, others as float64. A bound
// outside the type of the schema is itself reported.

import { quoteValue } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { type Check, isWhole, numberAt } from './checks.ts';
import { type Result, remark, violated, violatedFloat, violatedFully } from './result.ts';

type Numeric = number | bigint;
const INT32 = [-(2 ** 31), 2 ** 31 - 1] as const;
const MAX_FLOAT32 = 3.4028235677973366e38;

/** The format applies only with its own type. */
export function compileNumber(schema: JsonObject, types: readonly string[], format: string): Check<Numeric> {
  const range = rangeCheck(types.length === 1 ? types[0]! : '', format);
  const multiple = boundCheck(schema, 'multipleOf', 'MultipleOf', range, checkMultiple);
  const low = boundCheck(
    schema,
    'minimum',
    'Minimum boundary',
    range,
    checkMinimum(schema.exclusiveMinimum === true),
  );
  const high = boundCheck(
    schema,
    'maximum',
    'Maximum boundary',
    range,
    checkMaximum(schema.exclusiveMaximum === true),
  );
  return (value, path, out) => {
    range(value, 'Checked', path, out);
    multiple?.(value, path, out);
    low?.(value, path, out);
    high?.(value, path, out);
    out.matches++;
  };
}

/** True when the value is in the range of type and format; otherwise adds a remark. */
type RangeCheck = (value: Numeric, what: string, path: string, out: Result) => boolean;

function rangeCheck(type: string, format: string): RangeCheck {
  const fits = fitTest(type, format);
  if (fits === undefined) return () => true;
  const isInteger = type === 'integer';
  const known = isInteger ? ['int32', 'int64'] : ['float', 'double'];
  const suffix = known.includes(format) ? `with format ${format}` : '(default format)';
  return (value, what, path, out) => {
    if (fits(value)) return true;
    out.add(remark(`${what} value must be of type ${type} ${suffix} in ${path}`));
    return false;
  };
}

function fitTest(type: string, format: string): ((value: Numeric) => boolean) | undefined {
  if (type === 'integer' && format === 'int32')
    return (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= INT32[0] && value <= INT32[1];
  if (type === 'integer') return (value) => typeof value === 'bigint' || isWhole(value);
  if (type === 'number' && format === 'float') return (value) => Math.abs(Number(value)) < MAX_FLOAT32;
  return undefined;
}

/** The end of the error message; undefined when the value is within the bound. */
type BoundCheck = (value: Numeric, bound: number, show: (n: number) => string) => string | undefined;

function boundCheck(
  schema: JsonObject,
  key: string,
  what: string,
  range: RangeCheck,
  check: BoundCheck,
): Check<Numeric> | undefined {
  const bound = numberAt(schema, key);
  if (bound === undefined) return undefined;
  return (value, path, out) => {
    // For whole values the fraction of a bound is truncated; a rejected bound is compared unchanged.
    const asInteger = range(bound, what, path, out) && (typeof value === 'bigint' || isWhole(value));
    const used = asInteger ? Math.trunc(bound) : bound;
    const show = asInteger ? String : goFloat;
    if (key === 'multipleOf' && used <= 0) {
      const text = `factor MultipleOf declared for ${path} must be positive: ${used}`;
      out.add(violatedFully(path, used, text));
      return;
    }
    const problem = check(value, used, show);
    if (problem === undefined) return;
    out.add(
      asInteger ? violated(path, value, problem) : violatedFloat(path, goFloat(Number(value)), problem),
    );
  };
}

const checkMinimum =
  (exclusive: boolean): BoundCheck =>
  (value, bound, show) =>
    (exclusive ? value <= bound : value < bound)
      ? `should be greater than ${exclusive ? '' : 'or equal to '}${show(bound)}`
      : undefined;

const checkMaximum =
  (exclusive: boolean): BoundCheck =>
  (value, bound, show) =>
    (exclusive ? value >= bound : value > bound)
      ? `should be less than ${exclusive ? '' : 'or equal to '}${show(bound)}`
      : undefined;

const checkMultiple: BoundCheck = (value, factor, show) =>
  isMultiple(value, factor) ? undefined : `should be a multiple of ${show(factor)}`;

function isMultiple(value: Numeric, factor: number): boolean {
  if (typeof value === 'bigint') return Number.isInteger(factor) && value % BigInt(factor) === 0n;
  // Outside all integer ranges it is a float.
  const isWhole = Number.isInteger(value) && Math.abs(value) < 2 ** 63;
  if (isWhole && Number.isInteger(factor)) return value % factor === 0;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  if (Math.abs(times) > 2 ** 53) return false;
  const nearest = Math.round(times);
  return times === nearest || Math.abs(times - nearest) / Math.abs(times + nearest) < 1e-9;
}

/** Prints a float64 like Go's %v: whole numbers have an exponent from a million on. */
function goFloat(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) < 1e6) return quoteValue(value);
  const [mantissa, power] = value.toExponential().split('e+') as [string, string];
  return `${mantissa}e+${power.padStart(2, '0')}`;
}
