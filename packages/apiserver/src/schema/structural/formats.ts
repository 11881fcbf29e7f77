// String formats of custom resource schemas. Unknown ones are accepted and not checked. Dashes in names are ignored
// (`date-time` is `datetime`); each check accepts what its Go function accepts.

import { parseGoDuration } from '@lapse/base/goDuration';
import { isEmail } from './formatEmail.ts';
import { isCidr, isIpv4, isIpv6, isMac } from './formatNet.ts';
import { isRequestUri } from './formatUri.ts';

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

const uuid = (third: string, fourth: string): Check =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i'));
const ANY_GROUP = '[0-9a-f]{4}';
const VARIANT = '[89ab][0-9a-f]{3}';

// Go's \p{S} and \p{L}: host names may contain symbols and letters of any script, except in the last label.
const HOST_CHAR = '[a-zA-Z0-9\\p{S}\\p{L}]';
const HOSTNAME = new RegExp(
  `^(?:${HOST_CHAR}(?:-?${HOST_CHAR}{0,62})?|(?:${HOST_CHAR}(?:[a-zA-Z0-9\\-\\p{S}\\p{L}]{0,61}${HOST_CHAR})?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
);

function isHostname(text: string): boolean {
  if (text.length > 255 || Buffer.byteLength(text) > 255 || !HOSTNAME.test(text)) return false;
  return text.split('.').every((label) => Buffer.byteLength(label) <= 63);
}

const DAYS_IN = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= DAYS_IN[month - 1]! + (leap && month === 2 ? 1 : 0);
}

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const match = /^(\d\d):(\d\d):(\d\d)(?:.[0-9]+)?(?:z|[+-]\d\d:\d\d)$/.exec(time);
  return match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59';
}

const UNITS = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
];

/** A Go duration, or any text that contains something like `3 days`. */
function isDuration(text: string): boolean {
  try {
    parseGoDuration(text);
    return true;
  } catch {
    let found = false;
    for (const [, digits, name] of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
      const significant = digits!.replace(/^0+/, '');
      if (significant.length > 19 || BigInt(significant) >= 2n ** 63n) return false;
      const unit = name!.toLowerCase();
      found ||= UNITS.some((names) => names.includes(unit) || unit.startsWith(names.at(-1)!));
    }
    return found;
  }
}

const digitAt = (text: string, at: number): number => text.charCodeAt(at) - 48;

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false;
  let sum = digits[9] === 'X' ? 100 : 10 * digitAt(digits, 9);
  for (let i = 0; i < 9; i++) sum += (i + 1) * digitAt(digits, i);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * digitAt(digits, i);
  return digitAt(digits, 12) === (10 - (sum % 10)) % 10;
}

const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, '');
  if (!CARD.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digitAt(digits, digits.length - 1 - i);
    const doubled = i % 2 === 0 ? digit : digit * 2;
    sum += doubled >= 10 ? (doubled % 10) + 1 : doubled;
  }
  return sum % 10 === 0;
}

const COLOUR = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*';
const SHORT_NAME = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const isShortName = matches(new RegExp(`^${SHORT_NAME}$`));
const isLongName = matches(new RegExp(`^${SHORT_NAME}(?:\\.${SHORT_NAME})*$`));

const CHECKS = new Map<string, Check>([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', uuid(ANY_GROUP, ANY_GROUP)],
  ['uuid3', uuid('3[0-9a-f]{3}', ANY_GROUP)],
  ['uuid4', uuid('4[0-9a-f]{3}', VARIANT)],
  ['uuid5', uuid('5[0-9a-f]{3}', VARIANT)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', matches(new RegExp(`^rgb\\(${COLOUR},${COLOUR},${COLOUR}\\)$`))],
  ['byte', matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && isShortName(text)],
  ['k8slongname', (text) => text.length <= 253 && isLongName(text)],
]);

const NUMBER_FORMATS: Record<string, readonly string[]> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** The check for a string format; undefined for an unknown one. */
export const formatCheck = (name: string): Check | undefined => CHECKS.get(name.replaceAll('-', ''));

/** Whether a format applies to the type (one type, or none); others are ignored with a warning. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === '' || type === 'string') return formatCheck(format) !== undefined;
  return NUMBER_FORMATS[type]?.includes(format) ?? false;
}
