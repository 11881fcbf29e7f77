// "…%s…".format([…]) in two dialects: the current language specification, and the older cel-go library that Kubernetes
// uses. The latter quotes inside lists and maps and is stricter about numbers.

import { convertToString } from '../convert.ts';
import { entriesOf } from '../equality.ts';
import { formatFixed, formatPlain, formatScientific } from '../floatText.ts';
import type { Frame } from '../frame.ts';
import { compareStrings, encodeUtf8 } from '../text.ts';
import { formatDuration } from '../time.ts';
import { typeOfValue } from '../typeOfValue.ts';
import {
  adapt,
  Double,
  Duration,
  Failure,
  fail,
  isInt,
  isMap,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';
import { ARGUMENT_ERRORS, CLAUSE } from './formatClauses.ts';

export type Dialect = 'current' | 'kubernetes';

const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 1000;

const SUPERSCRIPT: Readonly<Record<string, string>> = {
  '-': '⁻',
  0: '⁰',
  1: '¹',
  2: '²',
  3: '³',
  4: '⁴',
  5: '⁵',
  6: '⁶',
  7: '⁷',
  8: '⁸',
  9: '⁹',
};

/** Thrown internally, converted to an error value at the boundary. */
class FormatProblem extends Error {}

export function format(dialect: Dialect) {
  return (text: Value, args: Value, f: Frame): Value | undefined => {
    if (typeof text !== 'string' || !Array.isArray(args)) return undefined;
    try {
      return substitute(text, args, new Formatter(dialect, f));
    } catch (e) {
      if (e instanceof FormatProblem) return fail(e.message);
      throw e;
    }
  };
}

function substitute(text: string, args: readonly Value[], formatter: Formatter): string {
  let next = 0;
  return text.replace(CLAUSE, (clause, precisionText?: string, verb?: string) => {
    if (clause === '%%') return '%';
    if (clause === '%') throw new FormatProblem('unexpected end of string');
    if (next >= args.length) throw new FormatProblem(`index ${next} out of range`);
    const precision = precisionText === undefined ? DEFAULT_PRECISION : Number(precisionText);
    if (precision > MAX_PRECISION)
      throw new FormatProblem(`could not parse formatting clause: precision ${precision} is too large`);
    return formatter.clause(verb ?? clause.slice(1), adapt(args[next++]!), precision);
  });
}

class Formatter {
  readonly #old: boolean;
  readonly #frame: Frame;

  constructor(dialect: Dialect, frame: Frame) {
    this.#old = dialect === 'kubernetes';
    this.#frame = frame;
  }

  clause(verb: string, v: Value, precision: number): string {
    this.#frame.work(verb === 'f' || verb === 'e' ? 300 + precision * 4 : 20);
    switch (verb) {
      case 's':
        return this.text(v);
      case 'd':
        return this.#decimal(v);
      case 'f':
        return this.#float(v, 'f', (d) => this.#fixed(d, precision));
      case 'e':
        return this.#float(v, 'e', (d) => this.#scientific(d, precision));
      case 'b':
        if (typeof v === 'boolean') return v ? '1' : '0';
        return this.#radix(v, 2) ?? reject('b', v);
      case 'o':
        return this.#radix(v, 8) ?? reject('o', v);
      case 'x':
        return this.#hex(v);
      case 'X':
        return this.#hex(v).toUpperCase();
      default:
        throw new FormatProblem(
          `could not parse formatting clause: unrecognized formatting clause "${verb}"`,
        );
    }
  }

  #radix(v: Value, radix: number): string | undefined {
    if (isInt(v)) return v.toString(radix);
    return v instanceof Uint ? v.uintBits.toString(radix) : undefined;
  }

  #hex(v: Value): string {
    const bytes = typeof v === 'string' ? encodeUtf8(v) : v;
    if (bytes instanceof Uint8Array) {
      this.#frame.work(bytes.length * 0.2);
      return Buffer.from(bytes).toString('hex');
    }
    return this.#radix(v, 16) ?? reject('x', v);
  }

  #decimal(v: Value): string {
    const digits = this.#radix(v, 10);
    if (digits !== undefined) return digits;
    if (v instanceof Double && !this.#old) return special(v.float64) ?? formatPlain(v.float64);
    return reject('d', v);
  }

  #float(v: Value, clause: 'f' | 'e', write: (d: number) => string): string {
    if (v instanceof Double) return special(v.float64) ?? write(v.float64);
    if (this.#old) {
      if (v === 'NaN' || v === 'Infinity' || v === '-Infinity') return v;
    } else {
      if (isInt(v)) return write(Number(v));
      if (v instanceof Uint) return write(Number(v.uintBits));
    }
    return reject(clause, v);
  }

  /** The older dialect formats numbers for a locale: grouped thousands, superscript powers of ten. */
  #fixed(d: number, precision: number): string {
    const text = formatFixed(d, precision);
    return this.#old ? text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ',')) : text;
  }

  #scientific(d: number, precision: number): string {
    if (!this.#old) return formatScientific(d, precision);
    const [mantissa = '', exponent = ''] = formatScientific(d, DEFAULT_PRECISION).split('e');
    return `${mantissa}×10${[...exponent.replace('+', '')].map((c) => SUPERSCRIPT[c]).join('')}`;
  }

  /** Formats %s for all values that have a text form. */
  text(v: Value): string {
    if (Array.isArray(v)) return `[${this.#join(v.map((e) => this.#inner(adapt(e))))}]`;
    if (isMap(v)) return this.#map(v);
    if (v === null) return 'null';
    if (v instanceof TypeValue) return v.typeValue.name;
    if (v instanceof Duration) return formatDuration(v);
    if (v instanceof Double && !this.#old) return special(v.float64) ?? formatPlain(v.float64);
    if (v instanceof Uint8Array && !this.#old) return this.#charge(Buffer.from(v).toString('utf8'));
    const text = convertToString(v);
    if (typeof text === 'string') return this.#charge(text);
    if (text instanceof Failure) throw new FormatProblem(text.errorMessage);
    return reject('s', v);
  }

  #charge(text: string): string {
    this.#frame.work(15 + text.length * 0.2);
    return text;
  }

  #join(parts: readonly string[]): string {
    return this.#charge(parts.join(', '));
  }

  /** An element of a list or map. The older dialect quotes it. */
  #inner(v: Value): string {
    if (!this.#old) return this.text(v);
    if (typeof v === 'string') return JSON.stringify(this.#charge(v));
    if (v instanceof Uint8Array) return `b${JSON.stringify(this.text(v))}`;
    if (v instanceof TypeValue) return `type(${v.typeValue.name})`;
    if (v instanceof Timestamp) return `timestamp("${this.text(v)}")`;
    if (v instanceof Duration) return `duration("${this.text(v)}")`;
    if (!(v instanceof Double)) return this.text(v);
    const odd = special(v.float64);
    return odd === undefined
      ? formatFixed(v.float64, DEFAULT_PRECISION)
      : JSON.stringify(goSpecial(v.float64));
  }

  #map(v: Value): string {
    const entries = [...entriesOf(v as Parameters<typeof entriesOf>[0])];
    const shown = entries.map(([key, value]) => [this.#inner(key), this.#inner(value)] as const);
    shown.sort(([a], [b]) => compareStrings(a, b));
    const colon = this.#old ? ':' : ': ';
    return `{${this.#join(shown.map(([k, e]) => `${k}${colon}${e}`))}}`;
  }
}

function special(d: number): string | undefined {
  if (Number.isNaN(d)) return 'NaN';
  return Number.isFinite(d) ? undefined : d > 0 ? 'Infinity' : '-Infinity';
}

const goSpecial = (d: number): string => (Number.isNaN(d) ? 'NaN' : d > 0 ? '+Inf' : '-Inf');

function reject(verb: string, v: Value): never {
  throw new FormatProblem(
    `error during formatting: ${ARGUMENT_ERRORS[verb]}, was given ${typeOfValue(v).name}`,
  );
}
