import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Millis, millis, minutes, plus, seconds } from '@lapse/base/instant';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, impersonating, impersonationHeaders, withCredentials } from './credentials.ts';
import { inProcessTransport } from './inProcess.ts';
import { renewing } from './renewing.ts';
import { bytes, chunked, errorResponse, manualClock, scripted } from './testkit.ts';
import { tokenFile } from './tokenFile.ts';

const auth = (token: string) => ({ headers: bearer(token) });

function source(options: { every?: Millis; lifetime?: Millis; keepOnFailure?: boolean } = {}) {
  const clock = manualClock();
  const loads: string[] = [];
  const state = { token: 'one', broken: false };
  const credentials = renewing({
    clock,
    ...options,
    load: async () => {
      loads.push(state.token);
      if (state.broken) throw new Error('no token today');
      const { lifetime } = options;
      return {
        auth: auth(state.token),
        ...(lifetime === undefined ? {} : { expiresAt: plus(clock.now(), lifetime) }),
      };
    },
  });
  return { clock, credentials, loads, state };
}

describe('renewing', () => {
  it('loads once for many requests, then answers from memory', async () => {
    const { credentials, loads } = source();
    await Promise.all([credentials.current(), credentials.current(), credentials.current()]);
    expect(loads).toHaveLength(1);
    expect(credentials.current()).toEqual(auth('one'));
  });

  it('expires exactly at its instant', async () => {
    const { clock, credentials, loads, state } = source({ lifetime: seconds(60) });
    await credentials.current();
    state.token = 'two';
    await clock.advance(millis(59_999));
    expect(await credentials.current()).toEqual(auth('one'));
    await clock.advance(millis(1));
    expect(await credentials.current()).toEqual(auth('two'));
    expect(loads).toEqual(['one', 'two']);
  });

  it('reloads at most once per interval; unchanged content stays the same object', async () => {
    const { clock, credentials, loads } = source({ every: minutes(1) });
    const first = await credentials.current();
    for (let i = 0; i < 59; i++) {
      await clock.advance(seconds(1));
      await credentials.current();
    }
    expect(loads).toHaveLength(1);
    await clock.advance(seconds(1));
    expect(await credentials.current()).toBe(first);
    expect(loads).toHaveLength(2);
  });

  it('a failed reload keeps the credentials with keepOnFailure, but never expired ones', async () => {
    const kept = source({ every: minutes(1), keepOnFailure: true });
    await kept.credentials.current();
    kept.state.broken = true;
    await kept.clock.advance(minutes(1));
    expect(await kept.credentials.current()).toEqual(auth('one'));
    const expired = source({ lifetime: seconds(60), keepOnFailure: true });
    await expired.credentials.current();
    expired.state.broken = true;
    await expired.clock.advance(minutes(1));
    await expect(expired.credentials.current()).rejects.toThrow('no token today');
  });

  it('throws if the first load fails, and the next request tries again', async () => {
    const { credentials, state } = source({ keepOnFailure: true });
    state.broken = true;
    await expect(credentials.current()).rejects.toThrow('no token today');
    state.broken = false;
    expect(await credentials.current()).toEqual(auth('one'));
  });

  it('after a 401 it loads again; true only if the credentials changed', async () => {
    const { clock, credentials, state } = source();
    const used = await credentials.current();
    await clock.advance(seconds(5));
    expect(await credentials.refused(used)).toBe(false);
    state.token = 'two';
    await clock.advance(seconds(5));
    expect(await credentials.refused(used)).toBe(true);
    expect(await credentials.current()).toEqual(auth('two'));
  });

  it('a burst of 401s causes one load; late callers see that the credentials already changed', async () => {
    const { clock, credentials, loads, state } = source();
    const used = await credentials.current();
    state.token = 'two';
    await clock.advance(seconds(5));
    expect(await Promise.all(Array.from({ length: 20 }, () => credentials.refused(used)))).not.toContain(
      false,
    );
    expect(await credentials.refused(used)).toBe(true);
    expect(loads).toEqual(['one', 'two']);
  });

  it('a server that rejects everything does not cause continuous loads', async () => {
    const { clock, credentials, loads, state } = source();
    for (let i = 0; i < 1000; i++) {
      state.token = `t${i}`;
      await credentials.refused(await credentials.current());
    }
    expect(loads).toHaveLength(1);
    await clock.advance(seconds(5));
    await credentials.refused(await credentials.current());
    expect(loads).toHaveLength(2);
  });
});

describe('tokenFile', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lapse-token-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('is read again after a minute, and tolerates a missing file for a moment', async () => {
    const path = join(directory, 'token');
    const clock = manualClock();
    await writeFile(path, 'one\n');
    const credentials = tokenFile({ path, clock, field: 'tokenFile' });
    expect(await credentials.current()).toEqual(auth('one'));
    await rm(path);
    await clock.advance(minutes(1));
    expect(await credentials.current()).toEqual(auth('one'));
    await writeFile(path, 'two');
    expect(await credentials.current()).toEqual(auth('one'));
    await clock.advance(minutes(1));
    expect(await credentials.current()).toEqual(auth('two'));
  });

  it.each<[string, string | undefined, string]>([
    ['missing', undefined, 'cannot read'],
    ['empty', ' \n', 'is empty'],
    ['two lines', 'a\nb', 'does not contain a valid token'],
    ['binary', '\u0000\u0001', 'does not contain a valid token'],
  ])('rejects a file that is %s', async (name, content, problem) => {
    const path = join(directory, name);
    if (content !== undefined) await writeFile(path, content);
    const field = 'user "u" in config: tokenFile';
    const credentials = tokenFile({ path, clock: manualClock(), field });
    await expect(credentials.current()).rejects.toMatchObject({
      failure: 'credentials',
      message: expect.stringMatching(`^${field}: .*${problem}`),
    });
    const withFallback = tokenFile({ path, clock: manualClock(), field, fallback: 'f' });
    expect(await withFallback.current()).toEqual(auth('f'));
  });
});

describe('withCredentials', () => {
  const ok = { status: 200, headers: {}, body: bytes('ok') };
  const no = errorResponse(401, 'Unauthorized', 'Unauthorized');
  const request = { method: 'DELETE', path: '/', headers: { a: 'b' } };
  const setup = (changes: boolean, ...answers: (typeof ok)[]) => {
    const server = scripted(...answers);
    let token = 1;
    const credentials = {
      current: () => auth(`t${token}`),
      refused: () => {
        token++;
        return changes;
      },
    };
    return { server, transport: withCredentials(inProcessTransport(server.handler), credentials) };
  };

  it('adds the headers', async () => {
    const { server, transport } = setup(true, ok);
    await transport.request(request);
    expect(server.requests.map((r) => r.headers)).toEqual([{ a: 'b', authorization: 'Bearer t1' }]);
  });

  it.each(['request', 'stream'] as const)(
    '401: retries once with new credentials, then returns the response (%s)',
    async (way) => {
      const { server, transport } = setup(true, no as typeof ok);
      expect((await transport[way](request)).status).toBe(401);
      expect(server.requests.map((r) => r.headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
    },
  );

  it('closes a stream that was rejected', async () => {
    const { server, transport } = setup(true, no as typeof ok, ok);
    await transport.stream(request);
    expect(server.requests.map((r) => r.signal?.aborted)).toEqual([true, false]);
  });

  it('401 without new credentials: no retry', async () => {
    const { server, transport } = setup(false, no as typeof ok);
    expect((await transport.request(request)).status).toBe(401);
    expect(server.requests).toHaveLength(1);
  });

  it('401, then success after a retry', async () => {
    const { transport } = setup(true, no as typeof ok, { ...ok, body: chunked('x') as never });
    expect((await transport.stream(request)).status).toBe(200);
  });
});

describe('impersonation', () => {
  it.each<[string, Parameters<typeof impersonationHeaders>[0], object]>([
    ['a user', { user: 'jane' }, { 'impersonate-user': 'jane' }],
    [
      'everything',
      { user: 'j', uid: 'u', groups: ['a', 'b'], extra: { scopes: ['x', 'y'] } },
      {
        'impersonate-user': 'j',
        'impersonate-uid': 'u',
        'impersonate-group': ['a', 'b'],
        'impersonate-extra-scopes': ['x', 'y'],
      },
    ],
    [
      'extra keys that header names cannot contain',
      { user: 'j', extra: { 'Example.com/Team (x)': ['1'] } },
      { 'impersonate-user': 'j', 'impersonate-extra-example.com%2fteam%20%28x%29': ['1'] },
    ],
    ['empty lists', { user: 'j', groups: [], extra: { a: [] } }, { 'impersonate-user': 'j' }],
  ])('%s', (_name, who, headers) => {
    expect(impersonationHeaders(who)).toEqual(headers);
  });

  it('uses the current credentials of the wrapped instance', async () => {
    const { clock, credentials, state } = source();
    const acting = impersonating(credentials, { user: 'jane' });
    const first = await acting.current();
    expect(first.headers).toEqual({ authorization: 'Bearer one', 'impersonate-user': 'jane' });
    expect(await acting.current()).toBe(first);
    state.token = 'two';
    await clock.advance(seconds(5));
    expect(await acting.refused(first)).toBe(true);
    expect((await acting.current()).headers).toMatchObject({ authorization: 'Bearer two' });
  });
});
