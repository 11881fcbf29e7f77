import { seededRandom } from '@lapse/base/random';
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '#api/http';
import { defineKind } from '#api/kind';
import { ApiError } from '#api/status';
import { createClient } from './client.ts';
import { inProcessTransport } from './inProcess.ts';
import { chunked, errorResponse, manualClock, scripted, settle } from './testkit.ts';
import type { WatchOptions } from './watch.ts';
import type { WatchEvent } from './watchEvents.ts';

const Job = defineKind({ group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true });

const job = (name: string, resourceVersion: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'n', resourceVersion },
});
const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

const streaming = (...parts: (string | Uint8Array)[]): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: chunked(...parts),
});

function watching(answer: HttpResponse, options: WatchOptions = {}) {
  const server = scripted(answer);
  const client = createClient({
    transport: inProcessTransport(server.handler),
    clock: manualClock(),
    random: seededRandom(1),
  });
  return { server, events: client.watch(Job, options) };
}

async function eventsOf(answer: HttpResponse, options: WatchOptions = {}): Promise<WatchEvent[]> {
  const found: WatchEvent[] = [];
  for await (const event of watching(answer, options).events) found.push(event);
  return found;
}

/** Events in short form: `added a@1`, `bookmark 5`, `error malformed`. */
const short = (event: WatchEvent): string => {
  if (event.type === 'bookmark')
    return `bookmark ${event.resourceVersion}${event.initialEventsEnd ? ' end' : ''}`;
  if (event.type !== 'error')
    return `${event.type} ${event.object.metadata.name}@${event.object.metadata.resourceVersion}`;
  if (event.error instanceof ApiError) return `error ${event.error.code} ${event.error.reason}`;
  return `error ${'failure' in event.error ? event.error.failure : event.error.name}`;
};
const shorts = async (...parts: (string | Uint8Array)[]) => (await eventsOf(streaming(...parts))).map(short);

describe('events', () => {
  it('every type is decoded in order, however the bytes are cut into chunks', async () => {
    const text =
      line('ADDED', job('ä🎉', '1')) +
      line('MODIFIED', job('a', '2')) +
      line('DELETED', job('a', '3')) +
      line('BOOKMARK', { kind: 'Job', metadata: { resourceVersion: '9' } }) +
      line('BOOKMARK', {
        metadata: { resourceVersion: '10', annotations: { 'k8s.io/initial-events-end': 'true' } },
      });
    const all = Buffer.from(text);
    const expected = ['added ä🎉@1', 'modified a@2', 'deleted a@3', 'bookmark 9', 'bookmark 10 end'];
    for (let cut = 0; cut <= all.length; cut++)
      expect(await shorts(all.subarray(0, cut), all.subarray(cut))).toEqual(expected);
    expect(await shorts(...Array.from(all, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it('integers beyond 2^53 survive', async () => {
    const big = line('ADDED', job('a', '1')).replace('"name"', '"generation":9223372036854775807,"name"');
    const [event] = await eventsOf(streaming(big));
    expect(event).toMatchObject({ object: { metadata: { generation: 9223372036854775807n } } });
  });

  it('only a bookmark with the annotation ends the initial events', async () => {
    const metadata = { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'false' } };
    expect(await shorts(line('BOOKMARK', { metadata }))).toEqual(['bookmark 9']);
  });

  it('empty lines are ignored', async () => {
    expect(await shorts('\n\n', line('ADDED', job('a', '1')), '\n')).toEqual(['added a@1']);
  });
});

describe('invalid input becomes an error event and ends the stream', () => {
  const good = line('ADDED', job('a', '1'));
  it.each<[string, string, string]>([
    ['not JSON', 'garbage\n', 'not JSON'],
    ['a list', '[]\n', 'not an event'],
    ['null', 'null\n', 'not an event'],
    ['an event without an object', '{"type":"ADDED"}\n', 'not an event'],
    ['an unknown type', line('RENAMED', job('a', '1')), 'unknown type'],
    ['a prototype name as type', line('constructor', job('a', '1')), 'unknown type'],
    [
      'an object without metadata',
      line('ADDED', { kind: 'Job', apiVersion: 'v1' }),
      'no kind, apiVersion or metadata',
    ],
    [
      'an object without a name',
      line('ADDED', { ...job('a', '1'), metadata: { resourceVersion: '1' } }),
      'no name',
    ],
    [
      'an object without a version',
      line('ADDED', { ...job('a', '1'), metadata: { name: 'a' } }),
      'no name or resourceVersion',
    ],
    ['a bookmark without a version', line('BOOKMARK', { metadata: {} }), 'a bookmark without'],
    ['a list instead of a watch stream', '{"kind":"JobList","items":[]}\n', 'not an event'],
  ])('%s', async (_name, bad, problem) => {
    const events = await eventsOf(streaming(good + bad + good));
    expect(events.map((event) => event.type)).toEqual(['added', 'error']);
    expect(events[1]).toMatchObject({
      error: { failure: 'malformed', message: expect.stringContaining(problem) },
    });
  });

  it('the message quotes the line up to a limit', async () => {
    const [event] = await eventsOf(streaming(`${'x'.repeat(100_000)}\n`));
    expect((event as { error: Error }).error.message.length).toBeLessThan(400);
  });

  it('an endless line is rejected at the limit', async () => {
    const events = await eventsOf(streaming(good, 'x'.repeat(600), 'x'.repeat(600)), { maxLineBytes: 1000 });
    expect(events.map(short)).toEqual(['added a@1', 'error malformed']);
  });

  it('a stream that is cut inside a line is broken', async () => {
    expect(await shorts(good, '{"type":"ADD')).toEqual(['added a@1', 'error broken']);
  });

  it('a stream that fails is broken', async () => {
    async function* failing() {
      yield Buffer.from(good);
      throw new Error('reset by peer');
    }
    const events = await eventsOf({ ...streaming(), body: failing() });
    expect(events.map((event) => event.type)).toEqual(['added', 'error']);
  });
});

describe('error responses', () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (5)' };
  it.each<[string, HttpResponse, string]>([
    ['an ERROR event', streaming(line('ERROR', status)), 'error 410 Expired'],
    [
      'an ERROR event without a code',
      streaming(line('ERROR', { kind: 'Status' })),
      'error 500 InternalError',
    ],
    ['a 410 response', errorResponse(410, 'Expired', 'too old'), 'error 410 Expired'],
    ['403', errorResponse(403, 'Forbidden', 'jobs.batch is forbidden'), 'error 403 Forbidden'],
    [
      'a 404 for an unknown group',
      { status: 404, headers: { 'content-type': 'text/plain' }, body: Buffer.from('404 page not found') },
      'error 404 NotFound',
    ],
    [
      'an error response as a stream',
      { ...errorResponse(429, '', ''), body: chunked('{"kind":"Status",', '"reason":"TooManyRequests"}') },
      'error 429 TooManyRequests',
    ],
    [
      'a login page with status 200',
      { status: 200, headers: { 'content-type': 'text/html' }, body: chunked('<html>') },
      'error malformed',
    ],
  ])('%s', async (_name, answer, expected) => {
    expect((await eventsOf(answer)).map(short)).toEqual([expected]);
  });

  it('closes the stream of an error response', async () => {
    async function* endless() {
      for (;;) yield Buffer.from('<p>');
    }
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: endless() };
    const { server, events } = watching(page);
    for await (const _ of events);
    expect(server.requests[0]?.signal?.aborted).toBe(true);
  });

  it('an endless error response is not read to its end', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(10_000, 'x');
    }
    expect((await eventsOf({ status: 500, headers: {}, body: endless() })).map(short)).toEqual([
      'error 500 InternalError',
    ]);
  });
});

describe('the request', () => {
  it.each<[string, WatchOptions, string]>([
    ['by default', {}, '/apis/batch/v1/jobs?watch=true&allowWatchBookmarks=true'],
    [
      'resumed, in a namespace, with selectors',
      {
        namespace: 'n',
        resourceVersion: '5',
        labelSelector: 'a=b',
        fieldSelector: 'metadata.name=x',
        timeoutSeconds: 300,
      },
      '/apis/batch/v1/namespaces/n/jobs?watch=true&allowWatchBookmarks=true&resourceVersion=5&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&timeoutSeconds=300',
    ],
    [
      'streaming list',
      { sendInitialEvents: true },
      '/apis/batch/v1/jobs?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    ],
    ['without bookmarks', { bookmarks: false }, '/apis/batch/v1/jobs?watch=true'],
  ])('%s', async (_name, options, path) => {
    const { server, events } = watching(streaming(), options);
    await events.next();
    expect(server.requests[0]?.path).toBe(path);
  });
});

describe('stopping', () => {
  const endless = () => {
    let stopped = false;
    async function* body() {
      try {
        yield Buffer.from(line('ADDED', job('a', '1')));
        yield Buffer.from('{"type":"MODI');
        await new Promise(() => {});
      } finally {
        stopped = true;
      }
    }
    return { answer: { ...streaming(), body: body() }, stopped: () => stopped };
  };

  it('an abort ends the watch without an error, even inside a line and while no data arrives', async () => {
    const controller = new AbortController();
    let opened = 0;
    const { events, server } = watching(endless().answer, {
      signal: controller.signal,
      onOpen: () => opened++,
    });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of events) seen.push(short(event));
    })();
    await settle();
    controller.abort();
    await reading;
    expect(seen).toEqual(['added a@1']);
    expect(opened).toBe(1);
    expect(server.requests[0]?.signal?.aborted).toBe(true);
  });

  it('an abort before the start sends nothing', async () => {
    const { events, server } = watching(streaming(), { signal: AbortSignal.abort() });
    expect(await events.next()).toMatchObject({ done: true });
    expect(server.requests).toHaveLength(0);
  });

  it('leaving the loop aborts the request at the server', async () => {
    const { events, server } = watching(endless().answer);
    for await (const _ of events) break;
    expect(server.requests[0]?.signal?.aborted).toBe(true);
  });
});
