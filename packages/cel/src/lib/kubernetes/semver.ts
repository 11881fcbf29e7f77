// semver(): semantic versions, strict as in SemVer 2.0.0, or optionally normalized ("v1.2" is "1.2.0").

import { fn, fnAt, type Library, member, overload, working } from '../../declarations.ts';
import { toInt } from '../../numbers.ts';
import { sizeOf, traversal } from '../../sizes.ts';
import { BOOL, INT, STRING, structOf } from '../../types.ts';
import { fail, Opaque, type Value } from '../../values.ts';

const SEMVER = structOf('kubernetes.Semver');
const MAX_UINT64 = 2n ** 64n - 1n;
interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
}

class SemverValue extends Opaque {
  readonly opaqueVersion: Version;

  constructor(version: Version) {
    super();
    this.opaqueVersion = version;
  }

  opaqueType() {
    return SEMVER;
  }

  opaqueEquals(other: Value): boolean {
    return other instanceof SemverValue && compareVersions(this.opaqueVersion, other.opaqueVersion) === 0;
  }
}

const isNumeric = (identifier: string): boolean => /^\d*$/.test(identifier);
const isIdentifier = (text: string): boolean => /^[0-9A-Za-z-]*$/.test(text);
const hasLeadingZero = (digits: string): boolean => digits.length > 1 && digits.startsWith('0');

type Parsed = { readonly version: Version } | { readonly problem: string };

/** One of the three numbers, or its error. */
function readNumber(word: string, digits: string): bigint | string {
  if (!isNumeric(digits)) return `Invalid character(s) found in ${word} number ${JSON.stringify(digits)}`;
  if (hasLeadingZero(digits)) {
    return `${word[0]!.toUpperCase()}${word.slice(1)} number must not contain leading zeroes ${JSON.stringify(digits)}`;
  }
  const wrong = `strconv.ParseUint: parsing ${JSON.stringify(digits)}:`;
  if (digits === '') return `${wrong} invalid syntax`;
  return BigInt(digits) > MAX_UINT64 ? `${wrong} value out of range` : BigInt(digits);
}

function wrongPrerelease(identifier: string): string | undefined {
  if (identifier === '') return 'Prerelease is empty';
  const quoted = JSON.stringify(identifier);
  if (isNumeric(identifier)) {
    if (hasLeadingZero(identifier))
      return `Numeric PreRelease version must not contain leading zeroes ${quoted}`;
    return BigInt(identifier) > MAX_UINT64
      ? `strconv.ParseUint: parsing ${quoted}: value out of range`
      : undefined;
  }
  return isIdentifier(identifier) ? undefined : `Invalid character(s) found in prerelease ${quoted}`;
}

function wrongBuild(identifier: string): string | undefined {
  if (identifier === '') return 'Build meta data is empty';
  if (isIdentifier(identifier)) return undefined;
  return `Invalid character(s) found in build meta data ${JSON.stringify(identifier)}`;
}

function parse(text: string): Parsed {
  if (text === '') return { problem: 'Version string empty' };
  const parts = splitInThree(text);
  const [first, second, third] = parts;
  if (first === undefined || second === undefined || third === undefined) {
    return { problem: 'No Major.Minor.Patch elements found' };
  }
  const [beforeBuild = '', ...build] = splitOnce(third, '+');
  const [patch = '', ...prerelease] = splitOnce(beforeBuild, '-');
  const numbers = [
    readNumber('major', first),
    readNumber('minor', second),
    readNumber('patch', patch),
  ] as const;
  const identifiers = prerelease.flatMap((p) => p.split('.'));
  const problem =
    numbers.find((n) => typeof n === 'string') ??
    firstProblem(identifiers, wrongPrerelease) ??
    firstProblem(
      build.flatMap((b) => b.split('.')),
      wrongBuild,
    );
  if (typeof problem === 'string') return { problem };
  return { version: { numbers: numbers as readonly [bigint, bigint, bigint], prerelease: identifiers } };
}

/** The text before the first separator and, if there is one, the text after it. */
function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function firstProblem(
  identifiers: readonly string[],
  wrong: (id: string) => string | undefined,
): string | undefined {
  for (const id of identifiers) {
    const problem = wrong(id);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Removes a leading v and leading zeros, and appends missing numbers. */
function normalise(text: string): string | undefined {
  const parts = splitInThree(text.replace(/^v/, '')).map((p) => {
    if (p.length <= 1) return p;
    const stripped = p.replace(/^0+/, '');
    return /^\d/.test(stripped) ? stripped : `0${stripped}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) return undefined;
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
}

function splitInThree(text: string): string[] {
  const [first = '', second, ...rest] = text.split('.');
  if (second === undefined) return [first];
  return rest.length === 0 ? [first, second] : [first, second, rest.join('.')];
}

function parseWith(text: string, normalising: boolean): Parsed {
  const plain = normalising ? normalise(text) : text;
  return plain === undefined
    ? { problem: 'short version cannot contain PreRelease/Build meta data' }
    : parse(plain);
}

function compareVersions(a: Version, b: Version): -1 | 0 | 1 {
  for (const [i, x] of a.numbers.entries()) {
    const y = b.numbers[i]!;
    if (x !== y) return x < y ? -1 : 1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return a.prerelease.length === b.prerelease.length ? 0 : a.prerelease.length === 0 ? 1 : -1;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

function comparePrereleases(a: readonly string[], b: readonly string[]): -1 | 0 | 1 {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareIdentifiers(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

function compareIdentifiers(a: string, b: string): -1 | 0 | 1 {
  const [x, y] = [isNumeric(a), isNumeric(b)];
  if (x !== y) return x ? -1 : 1;
  if (x && BigInt(a) !== BigInt(b)) return BigInt(a) < BigInt(b) ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

function semver(text: Value, normalising: Value): Value | undefined {
  if (typeof text !== 'string' || typeof normalising !== 'boolean') return undefined;
  const parsed = parseWith(text, normalising);
  return 'problem' in parsed ? fail(parsed.problem) : new SemverValue(parsed.version);
}

function isSemver(text: Value, normalising: Value): Value | undefined {
  if (typeof text !== 'string' || typeof normalising !== 'boolean') return undefined;
  return 'version' in parseWith(text, normalising);
}

const onTwo = (body: (order: number) => Value) => (a: Value, b: Value) =>
  a instanceof SemverValue && b instanceof SemverValue
    ? body(compareVersions(a.opaqueVersion, b.opaqueVersion))
    : undefined;

// A number beyond int64 wraps around, as in Go's conversion.
const part = (i: 0 | 1 | 2) => (v: Value) =>
  v instanceof SemverValue ? toInt(BigInt.asIntN(64, v.opaqueVersion.numbers[i])) : undefined;

const readCost = (a: Value) => traversal(sizeOf(a));

export const KUBERNETES_SEMVER: Library = {
  name: 'kubernetes semver',
  functions: working(
    180,
    fnAt(
      readCost,
      'semver',
      overload('string_to_semver', [STRING], SEMVER, (t: Value) => semver(t, false)),
      overload('string_bool_to_semver', [STRING, BOOL], SEMVER, semver),
    ),
    fnAt(
      readCost,
      'isSemver',
      overload('is_semver_string', [STRING], BOOL, (t: Value) => isSemver(t, false)),
      overload('is_semver_string_bool', [STRING, BOOL], BOOL, isSemver),
    ),
    fn(
      'isGreaterThan',
      member(
        'semver_is_greater_than',
        [SEMVER, SEMVER],
        BOOL,
        onTwo((o) => o > 0),
      ),
    ),
    fn(
      'isLessThan',
      member(
        'semver_is_less_than',
        [SEMVER, SEMVER],
        BOOL,
        onTwo((o) => o < 0),
      ),
    ),
    fn(
      'compareTo',
      member(
        'semver_compare_to',
        [SEMVER, SEMVER],
        INT,
        onTwo((o) => o),
      ),
    ),
    fn('major', member('semver_major', [SEMVER], INT, part(0))),
    fn('minor', member('semver_minor', [SEMVER], INT, part(1))),
    fn('patch', member('semver_patch', [SEMVER], INT, part(2))),
  ),
};
