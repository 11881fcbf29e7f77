// format.<name>().validate(text): the named formats of Kubernetes with identical error messages.

import { daysInMonth } from '@lapse/base/civil';
import { fn, fnAt, type Library, member, overload, working } from '../../declarations.ts';
import { sizeOf, traversal } from '../../sizes.ts';
import { listOf, optionalOf, STRING, structOf } from '../../types.ts';
import { NONE, Opaque, Optional, type Value } from '../../values.ts';
import { parseRequestUri } from './goUrl.ts';

const FORMAT = structOf('kubernetes.NamedFormat');

type Check = (text: string) => string[];

class FormatValue extends Opaque {
  readonly opaqueName: string;
  readonly opaqueCheck: Check;
  /** The assumed length of the pattern in the cost model. */
  readonly opaqueWeight: number;

  constructor(name: string, check: Check, weight: number) {
    super();
    this.opaqueName = name;
    this.opaqueCheck = check;
    this.opaqueWeight = weight;
  }

  opaqueType() {
    return FORMAT;
  }

  opaqueEquals(other: Value): boolean {
    return other instanceof FormatValue && other.opaqueName === this.opaqueName;
  }
}

const tooLong = (text: string, bytes: number): string[] =>
  Buffer.byteLength(text) > bytes ? [`must be no more than ${bytes} bytes`] : [];

function mustMatch(rule: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((e) => `'${e}', `).join(' or ');
  return `${rule} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
// Lengths are checked first: these patterns may backtrack on long texts.
const isLabel = (text: string) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
const isSubdomain = (text: string) => text.split('.').every(isLabel);
const isName = (text: string) =>
  /^[-A-Za-z0-9_.]+$/.test(text) && /^[A-Za-z0-9]/.test(text) && /[A-Za-z0-9]$/.test(text);

const ALPHANUMERIC_ENDS = 'and must start and end with an alphanumeric character';

const label: Check = (text) => {
  const errors = tooLong(text, 63);
  if (isLabel(text)) return errors;
  if (isSubdomain(text)) return [...errors, 'must not contain dots'];
  const rule = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${ALPHANUMERIC_ENDS}`;
  return [...errors, mustMatch(rule, LABEL, 'my-name', '123-abc')];
};

/** Valid names of namespaces. */
export const isDnsLabel = (text: string): boolean => label(text).length === 0;

const subdomain: Check = (text) => {
  const errors = tooLong(text, 253);
  if (isSubdomain(text)) return errors;
  const rule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${ALPHANUMERIC_ENDS}`;
  return [...errors, mustMatch(rule, SUBDOMAIN, 'example.com')];
};

/** Valid names of most objects. */
export const isDnsSubdomain = (text: string): boolean => subdomain(text).length === 0;

const label1035: Check = (text) => {
  const errors = tooLong(text, 63);
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(text)) return errors;
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...errors, mustMatch(rule, LABEL_1035, 'my-name', 'abc-123')];
};

const NAME_RULE = `must consist of alphanumeric characters, '-', '_' or '.', ${ALPHANUMERIC_ENDS}`;
const nameMismatch = () => mustMatch(NAME_RULE, NAME, 'MyName', 'my.name', '123-abc');

const qualifiedName: Check = (text) => {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${nameMismatch()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1)!;
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] === '' ? ['must be non-empty'] : subdomain(parts[0]!);
    errors.push(...prefix.map((e) => `prefix part ${e}`));
  }
  if (name === '') errors.push('name part must be non-empty');
  else errors.push(...tooLong(name, 63).map((e) => `name part ${e}`));
  return isName(name) ? errors : [...errors, `name part ${nameMismatch()}`];
};

const labelValue: Check = (text) => {
  const errors = tooLong(text, 63);
  if (text === '' || isName(text)) return errors;
  const rule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ${ALPHANUMERIC_ENDS}`;
  return [...errors, mustMatch(rule, `(${NAME})?`, 'MyValue', 'my_value', '12345')];
};

/** A name prefix that will get a suffix may end in a dash. */
const asPrefix =
  (check: Check): Check =>
  (text) =>
    check(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const isDate = (text: string): boolean => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
};

const CLOCK = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/;

function isDateTime(text: string): boolean {
  const [date, clock] = text.toLowerCase().split('t');
  const parts = clock === undefined || !isDate(date!) ? null : CLOCK.exec(clock);
  return parts !== null && parts[1]! <= '23' && parts[2]! <= '59' && parts[3]! <= '59';
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

const unless =
  (message: string, test: (text: string) => boolean): Check =>
  (text) =>
    test(text) ? [] : [message];

const uri: Check = (text) => {
  const parsed = parseRequestUri(text);
  return 'problem' in parsed ? [parsed.problem] : [];
};

const FORMATS: ReadonlyMap<string, FormatValue> = new Map(
  (
    [
      ['dns1123Label', 'DNS1123Label', label, 30],
      ['dns1123Subdomain', 'DNS1123Subdomain', subdomain, 60],
      ['dns1035Label', 'DNS1035Label', label1035, 30],
      ['qualifiedName', 'QualifiedName', qualifiedName, 60],
      ['dns1123LabelPrefix', 'DNS1123LabelPrefix', asPrefix(label), 30],
      ['dns1123SubdomainPrefix', 'DNS1123SubdomainPrefix', asPrefix(subdomain), 60],
      ['dns1035LabelPrefix', 'DNS1035LabelPrefix', asPrefix(label1035), 30],
      ['labelValue', 'LabelValue', labelValue, 40],
      ['uri', 'URI', uri, 1103],
      ['uuid', 'uuid', unless('does not match the UUID format', (t) => UUID.test(t)), 70],
      ['byte', 'byte', unless('invalid base64', (t) => BASE64.test(t)), 84],
      ['date', 'date', unless('invalid date', isDate), 71],
      ['datetime', 'datetime', unless('invalid datetime', isDateTime), 71],
    ] as const
  ).map(([key, name, check, weight]) => [key, new FormatValue(name, check, weight)]),
);

function validate(format: Value, text: Value): Value | undefined {
  if (!(format instanceof FormatValue) || typeof text !== 'string') return undefined;
  const errors = format.opaqueCheck(text);
  return errors.length === 0 ? NONE : new Optional(errors);
}

const validateCost = (format: Value, text: Value) =>
  format instanceof FormatValue ? traversal(sizeOf(text) + 1) * Math.ceil(format.opaqueWeight * 0.25) : 1;

function named(name: Value): Value | undefined {
  if (typeof name !== 'string') return undefined;
  const format = FORMATS.get(name);
  return format === undefined ? NONE : new Optional(format);
}

export const KUBERNETES_FORMAT: Library = {
  name: 'kubernetes format',
  functions: working(
    60,
    fnAt(
      validateCost,
      'validate',
      member('format-validate', [FORMAT, STRING], optionalOf(listOf(STRING)), validate),
    ),
    fn('format.named', overload('format-named', [STRING], optionalOf(FORMAT), named)),
    ...[...FORMATS].map(([key, format]) =>
      fn(
        `format.${key}`,
        overload(`format.${key}`, [], FORMAT, () => format),
      ),
    ),
  ),
};
