import { expect, test } from 'vitest';
import { messageWithoutData } from './messageWithoutData.ts';

test.each([
  [
    'no such key: serving.knative.dev/routes',
    'x["serving.knative.dev/routes"]',
    'no such key: serving.knative.dev/routes',
  ],
  ['no such key: hunter2', 'x[y]', 'no such key'],
  ["invalid timestamp 'hunter2'", 'timestamp(x)', 'invalid timestamp'],
  ['Invalid duration hunter2', 'duration(x)', 'Invalid duration'],
  ['invalid substring range. start: 4815, end: 2', 'x.substring(y)', 'invalid substring range. start'],
  ['join: invalid input: hunter2', 'x.join()', 'join'],
  ['divide by zero', '1 / x', 'divide by zero'],
  ['unknown time zone hunter2', 'time.getHours(x)', 'unknown time zone'],
  ['unknown time zone Foo/Bar', 'time.getHours("Foo/Bar")', 'unknown time zone: Foo/Bar'],
  ["type conversion error from 'string' to 'int'", 'int(x)', "type conversion error from 'string' to 'int'"],
  ["type conversion error from 'hunter 2' to 'int'", 'int(x)', 'type conversion error from'],
  ['no such overload: _+_(string, int)', 'x + 1', 'no such overload: _+_(string, int)'],
  ['unsupported index value 4711.5 in list', 'l[x]', 'unsupported index value'],
  ['unsupported index value 0.5 in list', 'l[0.5]', 'unsupported index value'],
  [
    'replacement string references group 4 but regex has only 0 group(s)',
    'regex.replace(x, y, z)',
    'replacement string references group',
  ],
  ['time: invalid location name', 'time.getHours(x)', 'time: invalid location name'],
  [`x${'y'.repeat(1000)}`, '', `x${'y'.repeat(255)}`],
])('the message %j of the expression %j becomes %j', (message, condition, expected) => {
  expect(messageWithoutData(message, condition)).toBe(expected);
});
