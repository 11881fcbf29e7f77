import { jsonLog } from '@lapse/base/log';
import { VirtualClock } from '@lapse/base/virtualClock';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';
import { expect, test } from 'vitest';
import { briefly } from './logs.ts';

function said(error: Error): Record<string, unknown> {
  const lines: string[] = [];
  const log = briefly(jsonLog({ clock: new VirtualClock(), write: (line) => void lines.push(line) }));
  log.with({ family: 'cleaner' }).warn({ error }, 'cache');
  return JSON.parse(lines[0]!);
}

test.each([
  [
    'an API server that does not respond',
    new TransportError('unreachable', 'connect ECONNREFUSED', { sent: false, cause: new Error('socket') }),
    { name: 'TransportError', failure: 'unreachable', message: 'connect ECONNREFUSED' },
  ],
  [
    'an API server that rejects requests',
    new ApiError(403, 'Forbidden', 'no'),
    { name: 'ApiError', code: 403, message: 'no' },
  ],
])('%s is logged with its message, without a stack', (_rule, error, shown) => {
  expect(said(error)).toMatchObject({ family: 'cleaner', message: 'cache' });
  expect(said(error).error).toEqual(shown);
});

test('an internal error is logged with its stack', () => {
  expect(said(new TypeError('x is not a function')).error).toMatchObject({ stack: expect.any(String) });
});
