// Cron schedules with five fields or a descriptor, with the errors of the parser that Kubernetes uses.

import { GoDurationError, parseGoDuration } from '@lapse/base/goDuration';

export class ScheduleError extends Error {}

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** Throws ScheduleError when the schedule is invalid. */
export function checkSchedule(schedule: string, isZone: (name: string) => boolean): void {
  let rest = schedule;
  if (/^(CRON_)?TZ=/.test(schedule)) {
    const space = schedule.indexOf(' ');
    const zone = schedule.slice(schedule.indexOf('=') + 1, space < 0 ? undefined : space);
    if (space < 0)
      throw new ScheduleError(`invalid schedule format: runtime error: slice bounds out of range [:-1]`);
    if (zone !== '' && !isZone(zone))
      throw new ScheduleError(`provided bad location ${zone}: unknown time zone ${zone}`);
    rest = schedule.slice(space).trim();
  }
  if (rest.startsWith('@')) checkDescriptor(rest);
  else checkFields(rest.split(/\s+/).filter((f) => f !== ''));
}

function checkFields(fields: string[]): void {
  const wanted = FIELDS.length;
  if (fields.length !== wanted)
    throw new ScheduleError(
      `expected exactly ${wanted} fields, found ${fields.length}: [${fields.join(' ')}]`,
    );
  fields.forEach((field, i) => {
    for (const range of field.split(',').filter((r) => r !== '')) checkRange(range, FIELDS[i]!);
  });
}

function checkDescriptor(descriptor: string): void {
  if (DESCRIPTORS.includes(descriptor)) return;
  if (!descriptor.startsWith('@every ')) throw new ScheduleError(`unrecognized descriptor: ${descriptor}`);
  try {
    parseGoDuration(descriptor.slice('@every '.length));
  } catch (cause) {
    if (!(cause instanceof GoDurationError)) throw cause;
    throw new ScheduleError(`failed to parse duration ${descriptor}: ${cause.message}`);
  }
}

function checkRange(expression: string, field: Field): void {
  const [range = '', ...steps] = expression.split('/');
  const [low = '', ...highs] = range.split('-');
  let [start, end] = [field.min, field.max];
  if (low !== '*' && low !== '?') {
    start = parseValue(low, field);
    if (highs.length > 1) throw new ScheduleError(`too many hyphens: ${expression}`);
    end = highs.length === 1 ? parseValue(highs[0]!, field) : start;
  }
  if (steps.length > 1) throw new ScheduleError(`too many slashes: ${expression}`);
  const step = steps.length === 1 ? parseInteger(steps[0]!) : 1;
  if (steps.length === 1 && highs.length === 0) end = field.max;
  if (start < field.min)
    throw new ScheduleError(`beginning of range (${start}) below minimum (${field.min}): ${expression}`);
  if (end > field.max)
    throw new ScheduleError(`end of range (${end}) above maximum (${field.max}): ${expression}`);
  if (start > end)
    throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${expression}`);
}

function parseValue(text: string, { min, names }: Field): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  return index >= 0 ? index + min : parseInteger(text);
}

function parseInteger(text: string): number {
  if (!/^[+-]?\d+$/.test(text))
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`,
    );
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": value out of range`,
    );
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}
