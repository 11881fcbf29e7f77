// Times in the Kubernetes format: Go's time.Parse for the two layouts of metav1 (with its error messages) and UTC
// output. Implements the calendar itself, because `Date` belongs to base/ and does not have Go's errors.

import { civilFromDays, daysFromCivil } from '@lapse/base/civil';
import { quote } from '@lapse/base/goQuote';

export const RFC3339 = '2006-01-02T15:04:05Z07:00';
export const RFC3339_MICRO = '2006-01-02T15:04:05.000000Z07:00';
type Layout = typeof RFC3339 | typeof RFC3339_MICRO;

/** Seconds since the Unix epoch and nanoseconds within the second. */
export interface GoTime {
  seconds: number;
  nanos: number;
}

/** 0001-01-01T00:00:00Z: Go's zero time, written as null. */
const ZERO_SECONDS = -62_135_596_800;
export const isZeroTime = (time: GoTime): boolean => time.seconds === ZERO_SECONDS && time.nanos === 0;

export class GoTimeError extends Error {}

/** Go's time.Parse. Throws GoTimeError. */
export const parseGoTime = (layout: Layout, text: string): GoTime => new TimeReader(layout, text).read();

const isDigit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
};

class TimeReader {
  readonly #layout: Layout;
  readonly #text: string;
  #at = 0;

  constructor(layout: Layout, text: string) {
    this.#layout = layout;
    this.#text = text;
  }

  read(): GoTime {
    const year = this.#year();
    this.#literal('-');
    const month = this.#field('01', 'month', 1, 12);
    this.#literal('-');
    const day = this.#field('02', '', 0, 99);
    this.#literal('T');
    const hour = this.#field('15', 'hour', 0, 23, true);
    this.#literal(':');
    const minute = this.#field('04', 'minute', 0, 59);
    this.#literal(':');
    const second = this.#field('05', 'second', 0, 59);
    const nanos = this.#layout === RFC3339_MICRO ? this.#micros() : this.#optionalFraction();
    const offset = this.#zone();
    if (this.#at < this.#text.length) this.#refuse(`: extra text: ${quote(this.#rest())}`);
    if (day < 1 || day > daysIn(year, month)) this.#refuse(': day out of range');
    const days = daysFromCivil(year, month, day);
    return { seconds: days * 86_400 + hour * 3600 + minute * 60 + second - offset, nanos };
  }

  #year(): number {
    const text = this.#text;
    // Go checks the first digit, then converts four bytes; both errors name the layout element.
    for (let i = 0; i < 4; i++) if (!isDigit(text, i)) this.#cannotParse('2006');
    this.#at = 4;
    return Number(text.slice(0, 4));
  }

  #literal(char: string): void {
    if (this.#text[this.#at] !== char) this.#cannotParse(char);
    this.#at++;
  }

  #field(element: string, name: string, low: number, high: number, oneDigit = false): number {
    const at = this.#at;
    if (!isDigit(this.#text, at)) this.#cannotParse(element);
    const two = isDigit(this.#text, at + 1);
    if (!two && !oneDigit) this.#cannotParse(element);
    this.#at += two ? 2 : 1;
    const value = Number(this.#text.slice(at, this.#at));
    if (value < low || value > high) this.#refuse(`: ${name} out of range`);
    return value;
  }

  #micros(): number {
    const end = this.#at + 7;
    const digits = this.#text.slice(this.#at + 1, end);
    if (!/^[.,]$/.test(this.#text[this.#at] ?? '') || !/^\d{6}$/.test(digits)) this.#cannotParse('.000000');
    this.#at = end;
    return Number(digits) * 1000;
  }

  /** A fraction that is not in the layout, of any length; digits beyond nanoseconds are truncated. */
  #optionalFraction(): number {
    const mark = this.#text[this.#at];
    if ((mark !== '.' && mark !== ',') || !isDigit(this.#text, this.#at + 1)) return 0;
    const start = this.#at + 1;
    this.#at = start;
    while (isDigit(this.#text, this.#at)) this.#at++;
    return Number(this.#text.slice(start, Math.min(this.#at, start + 9)).padEnd(9, '0'));
  }

  /** Seconds east of UTC. */
  #zone(): number {
    if (this.#text[this.#at] === 'Z') {
      this.#at++;
      return 0;
    }
    const zone = /^(.)(\d\d):(\d\d)/.exec(this.#text.slice(this.#at, this.#at + 6));
    if (zone === null) return this.#cannotParse('Z07:00');
    const hours = Number(zone[2]);
    const minutes = Number(zone[3]);
    // Go accepts 24:60 here, and checks the sign last.
    if (hours > 24) this.#refuse(': time zone offset hour out of range');
    if (minutes > 60) this.#refuse(': time zone offset minute out of range');
    if (zone[1] !== '+' && zone[1] !== '-') this.#cannotParse('Z07:00');
    this.#at += 6;
    return (zone[1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #cannotParse(element: string): never {
    this.#refuse(` as ${quote(this.#layout)}: cannot parse ${quote(this.#rest())} as ${quote(element)}`);
  }

  #refuse(message: string): never {
    throw new GoTimeError(`parsing time ${quote(this.#text)}${message}`);
  }
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const daysIn = (year: number, month: number): number => (month === 2 && isLeap(year) ? 29 : DAYS[month - 1]!);

const pad = (n: number, width: number): string => String(n).padStart(width, '0');

/** UTC with whole seconds, or with six digits for the micro layout. Fractions are truncated. */
export function formatGoTime(layout: Layout, time: GoTime): string {
  const days = Math.floor(time.seconds / 86_400);
  const inDay = time.seconds - days * 86_400;
  const { year, month, day } = civilFromDays(days);
  const years = year < 0 ? `-${pad(-year, 4)}` : pad(year, 4);
  const clock = `${pad(Math.floor(inDay / 3600), 2)}:${pad(Math.floor(inDay / 60) % 60, 2)}:${pad(inDay % 60, 2)}`;
  const fraction = layout === RFC3339_MICRO ? `.${pad(Math.floor(time.nanos / 1000), 6)}` : '';
  return `${years}-${pad(month, 2)}-${pad(day, 2)}T${clock}${fraction}Z`;
}
