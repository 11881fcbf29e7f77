// Values of literal tokens: escapes in strings and bytes, ranges of numbers.

import { parseFloat64, toInt, toUint } from './numbers.ts';
import { Double, isError, type Value } from './values.ts';

/** The value, or the error of the literal. */
export type LiteralResult = { readonly value: Value } | { readonly problem: string };

const NAMED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(?:([xX])([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7][0-7])|(.))/gs;

const isScalarValue = (code: number): boolean => code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);

export function intLiteral(text: string): LiteralResult {
  const negative = text.startsWith('-');
  const magnitude = BigInt(negative ? text.slice(1) : text);
  const value = toInt(negative ? -magnitude : magnitude);
  return isError(value) ? { problem: 'invalid int literal' } : { value };
}

export function uintLiteral(text: string): LiteralResult {
  const value = toUint(BigInt(text.slice(0, -1)));
  return isError(value) ? { problem: 'invalid uint literal' } : { value };
}

export function doubleLiteral(text: string): LiteralResult {
  const value = parseFloat64(text);
  return value === undefined ? { problem: 'invalid double literal' } : { value: new Double(value) };
}

/** The text between the quotes, and whether it is raw. All line ends become `\n`. */
function unquote(token: string): { body: string; raw: boolean } {
  const text = token.replace(/\r\n?/g, '\n');
  const raw = /^[rR]/.test(text);
  const quoted = raw ? text.slice(1) : text;
  const width = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''")) ? 3 : 1;
  return { body: quoted.slice(width, -width), raw };
}

export function stringLiteral(token: string): LiteralResult {
  const { body, raw } = unquote(token);
  if (raw || !body.includes('\\')) return { value: body };
  let problem: string | undefined;
  const value = body.replace(
    ESCAPE,
    (_, _x, hex?: string, u?: string, bigU?: string, octal?: string, named?: string) => {
      if (named !== undefined) return NAMED[named] ?? named;
      const code =
        octal === undefined ? Number.parseInt(hex ?? u ?? bigU ?? '', 16) : Number.parseInt(octal, 8);
      if (isScalarValue(code)) return String.fromCodePoint(code);
      problem = 'invalid unicode code point';
      return '';
    },
  );
  return problem === undefined ? { value } : { problem };
}

/** Hexadecimal and octal escapes are bytes; all other characters are encoded as UTF-8. */
export function bytesLiteral(token: string): LiteralResult {
  const { body, raw } = unquote(token.slice(1));
  if (raw || !body.includes('\\')) return { value: Uint8Array.from(Buffer.from(body)) };
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const m of body.matchAll(ESCAPE)) {
    const [whole, , hex, u, bigU, octal, named] = m;
    if (u !== undefined || bigU !== undefined) return { problem: 'unable to unescape string' };
    parts.push(Buffer.from(body.slice(at, m.index)));
    if (named !== undefined) parts.push(Buffer.from(NAMED[named] ?? named));
    else
      parts.push(Uint8Array.of(octal === undefined ? Number.parseInt(hex!, 16) : Number.parseInt(octal, 8)));
    at = m.index + whole.length;
  }
  parts.push(Buffer.from(body.slice(at)));
  return { value: Uint8Array.from(Buffer.concat(parts)) };
}
