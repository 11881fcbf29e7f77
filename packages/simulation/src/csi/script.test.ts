// The annotations that control the simulated storage system.

import { expect, test } from 'vitest';
import { scriptedFault } from './script.ts';

test.each([
  [undefined, undefined],
  ['5s', { notReadyFor: 5000 }],
  [' 1m ', { notReadyFor: 60_000 }],
  ['0', { notReadyFor: 0 }],
  ['never', { notReadyFor: 3_600_000_000_000 }],
  ['error: disk on fire', { error: { code: 'Internal', message: 'disk on fire' } }],
  ['error:', { error: { code: 'Internal', message: 'failed as annotated' } }],
])('a snapshot with %j', (text, expected) => {
  const method = 'CreateSnapshot';
  expect(scriptedFault(method, 'key', text)).toEqual(expected && { method, ...expected });
});

test('a volume with a duration is created after that time', () => {
  expect(scriptedFault('CreateVolume', 'key', '5s')).toEqual({ method: 'CreateVolume', delay: 5000 });
});

test.each(['', '5', 'soon', '-1s', 'Never', '1d'])('the driver refuses %j with a message', (text) => {
  expect(scriptedFault('CreateSnapshot', 'key', text)?.error).toEqual({
    code: 'InvalidArgument',
    message: `key: "${text}" is not "5s", "error: text" or "never"`,
  });
});
