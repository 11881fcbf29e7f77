import type { Transport, TransportRequest, TransportResponse } from '@lapse/kube/client/transport';
import { describe, expect, test } from 'vitest';
import { leaderOnly } from './leaderOnly.ts';

function setup(valid = true) {
  const term = new AbortController();
  const sent: string[] = [];
  let answer: PromiseWithResolvers<TransportResponse> | undefined;
  const inner: Transport = {
    request: (request: TransportRequest) => {
      sent.push(request.method);
      if (answer === undefined) return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array() });
      request.signal?.addEventListener('abort', () => answer!.reject(request.signal!.reason));
      return answer.promise;
    },
    stream: async () => {
      sent.push('stream');
      throw new Error('no stream');
    },
  };
  const state = { valid };
  const transport = leaderOnly(inner, {
    isValid: () => state.valid,
    get term() {
      return valid ? term.signal : undefined;
    },
  });
  return {
    sent,
    term,
    state,
    hang: () => {
      answer = Promise.withResolvers();
    },
    send: (method: string, signal?: AbortSignal) =>
      transport.request({ method, path: '/x', headers: {}, ...(signal === undefined ? {} : { signal }) }),
    stream: () => transport.stream({ method: 'GET', path: '/x', headers: {} }),
  };
}

describe('leaderOnly', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('does not send %s without leadership', async (method) => {
    const s = setup(false);
    await expect(s.send(method)).rejects.toMatchObject({ failure: 'aborted', sent: false });
    expect(s.sent).toEqual([]);
  });

  test.each(['GET', 'HEAD'])('sends %s without leadership', async (method) => {
    const s = setup(false);
    await s.send(method);
    await expect(s.stream()).rejects.toThrow('no stream');
    expect(s.sent).toEqual([method, 'stream']);
  });

  test('checks the validity when the request is sent, not when it is created', async () => {
    const s = setup();
    await s.send('DELETE');
    s.state.valid = false;
    await expect(s.send('DELETE')).rejects.toMatchObject({ failure: 'aborted' });
    expect(s.sent).toHaveLength(1);
  });

  test('aborts running requests when the term ends or their own signal aborts', async () => {
    const s = setup();
    s.hang();
    const first = s.send('DELETE');
    s.term.abort(new Error('leadership ended'));
    await expect(first).rejects.toThrow('leadership ended');
    const other = setup();
    other.hang();
    const own = new AbortController();
    const second = other.send('DELETE', own.signal);
    own.abort(new Error('mine'));
    await expect(second).rejects.toThrow('mine');
  });
});
