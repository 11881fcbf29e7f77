import { millis, seconds } from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';
import { describe, expect, test } from 'vitest';
import {
  classify,
  computeNext,
  computePause,
  type Ending,
  type Progress,
  START,
  type State,
} from './reflectorSteps.ts';

const api = (code: number, reason = '', retryAfterSeconds?: number, message = 'x') =>
  new ApiError(code, reason, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
const transport = (failure: TransportError['failure']) => new TransportError(failure, 'x', { sent: true });
const failed = (error: Error, events = 0, lasted = 0): Ending => ({
  kind: 'failed',
  error,
  watched: { events, lasted: millis(lasted) },
});
const closed = (lasted: number, events = 0): Ending => ({
  kind: 'closed',
  watched: { events, lasted: millis(lasted) },
});
const most = { next: () => 1, bytes: () => new Uint8Array() };

const at = (state: State, failures = 0, by: Progress['by'] = 'stream'): Progress => ({ state, failures, by });
const empty: State = { kind: 'empty' };
const stream: State = { kind: 'listing', by: 'stream' };
const pages: State = { kind: 'listing', by: 'pages' };
const whole: State = { kind: 'listing', by: 'whole' };
const watching: State = { kind: 'watching', version: '7' };

describe('computeNext and computePause', () => {
  test.each<[string, Progress, Ending, Progress, number]>([
    ['starts with a list', START, closed(0), at(stream), 0],
    ['watches after a complete list', at(stream), { kind: 'listed', version: '7' }, at(watching), 0],
    [
      'watches at once after a list, but keeps the failure count until a watch succeeds',
      at(stream, 4),
      { kind: 'listed', version: '7' },
      at(watching, 4),
      0,
    ],
    [
      'lists in pages from now on if the server does not support streaming lists',
      at(stream),
      { kind: 'unsupported', lasting: true },
      at(pages, 0, 'pages'),
      0,
    ],
    [
      'lists in pages once after a streaming list that sent nothing',
      at(stream),
      { kind: 'unsupported', lasting: false },
      at(pages),
      0,
    ],
    ['lists in pages from now on after a 422', at(stream), failed(api(422)), at(pages, 0, 'pages'), 0],
    ['lists in pages from now on after a 400', at(stream, 2), failed(api(400)), at(pages, 2, 'pages'), 0],
    ['lists in pages once if watching is forbidden', at(stream), failed(api(403)), at(pages), 0],
    [
      'restarts after a failed page if watching was forbidden',
      at(pages, 2),
      failed(api(500)),
      at(empty, 3),
      800,
    ],
    [
      'restarts a failed list after a pause',
      at(pages, 0, 'pages'),
      failed(api(500)),
      at(empty, 1, 'pages'),
      200,
    ],
    ['restarts an interrupted streaming list after a pause', at(stream), closed(50), at(empty, 1), 200],
    [
      'lists without paging after the continue token expired',
      at(pages, 0, 'pages'),
      failed(api(410)),
      at(whole, 1, 'pages'),
      0,
    ],
    [
      'restarts with pages after a failed list without paging',
      at(whole, 1, 'pages'),
      failed(api(500)),
      at(empty, 2, 'pages'),
      400,
    ],
    ['resumes a closed watch at once', at(watching, 3), closed(300_000), at(watching), 0],
    ['resumes a short watch with an event at once', at(watching), closed(5, 1), at(watching), 0],
    ['counts a short watch without an event as a failure', at(watching), closed(4999), at(watching, 1), 200],
    ['does not count a watch of five seconds as a failure', at(watching, 9), closed(5000), at(watching), 0],
    [
      'resets the failure count for a broken watch that lasted five seconds',
      at(watching, 9),
      failed(transport('broken'), 0, 5000),
      at(watching, 1),
      200,
    ],
    [
      'resumes a broken watch from its version after a pause',
      at(watching),
      failed(transport('broken')),
      at(watching, 1),
      200,
    ],
    ['doubles the pause', at(watching, 2), failed(transport('broken')), at(watching, 3), 800],
    [
      'limits the pause to half a minute',
      at(watching, 90),
      failed(transport('broken')),
      at(watching, 91),
      30_000,
    ],
    [
      'resets the failure count for a broken watch with an event',
      at(watching, 9),
      failed(transport('broken'), 1),
      at(watching, 1),
      200,
    ],
    ['relists at once after a 410', at(watching), failed(api(410, 'Expired')), at(empty, 1), 0],
    ['backs off after repeated 410s', at(watching, 1), failed(api(410)), at(empty, 2), 400],
    ['waits for the Retry-After of a 429', at(watching), failed(api(429, '', 7)), at(watching, 1), 7000],
    ['limits a Retry-After of an hour', at(watching), failed(api(429, '', 3600)), at(watching, 1), 60_000],
    [
      'falls back to lists with a pause if watching is forbidden',
      at(watching),
      failed(api(403)),
      at(empty, 1),
      1000,
    ],
    [
      'limits the pause after a 403 to five minutes',
      at(watching, 30),
      failed(api(403)),
      at(empty, 31),
      300_000,
    ],
    ['lists until a removed kind is served again', at(watching), failed(api(404)), at(empty, 1), 200],
    ['resumes after malformed data', at(watching, 1), failed(transport('malformed')), at(watching, 2), 400],
    [
      'relists after repeated malformed data',
      at(watching, 2),
      failed(transport('malformed')),
      at(empty, 3),
      800,
    ],
    [
      'relists if the server repeatedly rejects the version as too new',
      at(watching, 2),
      failed(api(504, 'Timeout', 1, 'Too large resource version: 9, current: 7')),
      at(empty, 3),
      1000,
    ],
  ])('%s', (_rule, before, ending, after, pause) => {
    const next = computeNext(before, ending);
    expect(next).toEqual(after);
    expect(computePause(next, ending, most)).toBe(pause);
  });
});

test('half of every pause is random', () => {
  const next = at(watching, 1);
  const least = { next: () => 0, bytes: () => new Uint8Array() };
  expect(computePause(next, failed(transport('broken')), least)).toBe(100);
  expect(computePause(next, failed(transport('broken')), most)).toBe(seconds(0.2));
});

describe('classify', () => {
  test.each([
    [api(401), 'forbidden'],
    [api(403), 'forbidden'],
    [api(404), 'notServed'],
    [api(405), 'notServed'],
    [api(410), 'expired'],
    [api(500, 'Expired'), 'expired'],
    [api(429), 'overloaded'],
    [api(500), 'unavailable'],
    [transport('malformed'), 'malformed'],
    [transport('timeout'), 'unavailable'],
    [new Error('x'), 'unavailable'],
  ])('%s → %s', (error, kind) => {
    expect(classify(error)).toBe(kind);
  });
});
