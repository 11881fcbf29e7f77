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

describe('where it goes next, and after which pause', () => {
  test.each<[string, Progress, Ending, Progress, number]>([
    ['it starts by listing', START, closed(0), at(stream), 0],
    ['a complete list becomes a watch', at(stream), { kind: 'listed', version: '7' }, at(watching), 0],
    [
      'at once, but failures count until the watch is good',
      at(stream, 4),
      { kind: 'listed', version: '7' },
      at(watching, 4),
      0,
    ],
    [
      'a server without streaming lists is asked for pages from then on',
      at(stream),
      { kind: 'unsupported', lasting: true },
      at(pages, 0, 'pages'),
      0,
    ],
    [
      'a streaming list that fell silent is replaced by pages this time only',
      at(stream),
      { kind: 'unsupported', lasting: false },
      at(pages),
      0,
    ],
    ['it says so with 422', at(stream), failed(api(422)), at(pages, 0, 'pages'), 0],
    ['or with 400', at(stream, 2), failed(api(400)), at(pages, 2, 'pages'), 0],
    [
      'watching may be forbidden where listing is not, and be allowed later',
      at(stream),
      failed(api(403)),
      at(pages),
      0,
    ],
    ['pages that fail where watching was forbidden', at(pages, 2), failed(api(500)), at(empty, 3), 800],
    [
      'a list that fails starts over, later',
      at(pages, 0, 'pages'),
      failed(api(500)),
      at(empty, 1, 'pages'),
      200,
    ],
    ['a streaming list that is cut starts over, later', at(stream), closed(50), at(empty, 1), 200],
    [
      'pages that expire are replaced by a single answer',
      at(pages, 0, 'pages'),
      failed(api(410)),
      at(whole, 1, 'pages'),
      0,
    ],
    [
      'a single answer that fails starts over with pages',
      at(whole, 1, 'pages'),
      failed(api(500)),
      at(empty, 2, 'pages'),
      400,
    ],
    ['a watch that ends in good order goes on at once', at(watching, 3), closed(300_000), at(watching), 0],
    ['also a short one that brought something', at(watching), closed(5, 1), at(watching), 0],
    [
      'a short one that brought nothing counts as a failure',
      at(watching),
      closed(4999),
      at(watching, 1),
      200,
    ],
    ['one that stood for five seconds does not', at(watching, 9), closed(5000), at(watching), 0],
    [
      'a broken one that had stood starts counting anew',
      at(watching, 9),
      failed(transport('broken'), 0, 5000),
      at(watching, 1),
      200,
    ],
    [
      'a broken watch resumes from where it was, after a pause',
      at(watching),
      failed(transport('broken')),
      at(watching, 1),
      200,
    ],
    ['the pause doubles', at(watching, 2), failed(transport('broken')), at(watching, 3), 800],
    ['up to half a minute', at(watching, 90), failed(transport('broken')), at(watching, 91), 30_000],
    [
      'a watch that had brought something starts counting anew',
      at(watching, 9),
      failed(transport('broken'), 1),
      at(watching, 1),
      200,
    ],
    ['410 means listing, at once', at(watching), failed(api(410, 'Expired')), at(empty, 1), 0],
    ['but a server that keeps saying it is paused for', at(watching, 1), failed(api(410)), at(empty, 2), 400],
    ['429: as long as the server asks', at(watching), failed(api(429, '', 7)), at(watching, 1), 7000],
    ['but not for an hour', at(watching), failed(api(429, '', 3600)), at(watching, 1), 60_000],
    ['a forbidden watch falls back to lists, never hot', at(watching), failed(api(403)), at(empty, 1), 1000],
    ['in the end every five minutes', at(watching, 30), failed(api(403)), at(empty, 31), 300_000],
    ['a kind that is gone is listed until it returns', at(watching), failed(api(404)), at(empty, 1), 200],
    ['garbage is skipped by resuming', at(watching, 1), failed(transport('malformed')), at(watching, 2), 400],
    ['and by listing when it stays', at(watching, 2), failed(transport('malformed')), at(empty, 3), 800],
    [
      'a version from the future is given up when it stays',
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

test('half of every pause is chance', () => {
  const next = at(watching, 1);
  const least = { next: () => 0, bytes: () => new Uint8Array() };
  expect(computePause(next, failed(transport('broken')), least)).toBe(100);
  expect(computePause(next, failed(transport('broken')), most)).toBe(seconds(0.2));
});

describe('what a problem is called', () => {
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
