// Schedules of CronJobs, with the errors of the parser that Kubernetes uses.

import { expect, test } from 'vitest';
import { checkSchedule, ScheduleError } from './schedule.ts';

const isZone = (name: string) => ['UTC', 'Europe/Berlin'].includes(name);

test.each([
  '* * * * *',
  '*/5 0-6/2 1,15 jan-MAR mon',
  '59 23 31 12 6',
  '? ? ? ? ?',
  '  1   2\t3 4 5 ',
  '1,,2 * * * *',
  '0 0 31 2 *',
  '@hourly',
  '@every 1h30m',
  'TZ=UTC 0 0 * * *',
  'CRON_TZ=Europe/Berlin @daily',
])('accepts %j', (schedule) => {
  expect(() => checkSchedule(schedule, isZone)).not.toThrow();
});

test.each([
  ['', 'expected exactly 5 fields, found 0: []'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['0 * * * * *', 'expected exactly 5 fields, found 6: [0 * * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['jan * * * *', 'failed to parse int from jan: strconv.Atoi: parsing "jan": invalid syntax'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  [
    '99999999999999999999 * * * *',
    'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
  ],
  ['@fortnightly', 'unrecognized descriptor: @fortnightly'],
  ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
  ['TZ=Nowhere/Land * * * * *', 'provided bad location Nowhere/Land: unknown time zone Nowhere/Land'],
  ['TZ=UTC', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
])('rejects %j', (schedule, why) => {
  expect(() => checkSchedule(schedule, isZone)).toThrow(new ScheduleError(why));
});
