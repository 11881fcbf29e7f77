// The annotation that controls the simulated storage system.

import { expect, test } from 'vitest';
import { parseScript } from './script.ts';

test.each([
  [undefined, { kind: 'succeed', after: 1000 }],
  ['5s', { kind: 'succeed', after: 5000 }],
  [' 1m ', { kind: 'succeed', after: 60_000 }],
  ['0', { kind: 'succeed', after: 0 }],
  ['never', { kind: 'never' }],
  ['error: disk on fire', { kind: 'fail', message: 'disk on fire', after: 1000 }],
  ['error:', { kind: 'fail', message: 'failed as annotated', after: 1000 }],
])('%j', (text, expected) => {
  expect(parseScript('key', text)).toEqual(expected);
});

test.each(['', '5', 'soon', '-1s', 'Never', '1d'])('rejects %j with a message', (text) => {
  const script = parseScript('key', text);
  expect(script).toMatchObject({
    kind: 'invalid',
    problem: expect.stringContaining('is not "5s", "error: text" or "never"'),
  });
});
