import { minutes, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { createClient } from '@lapse/kube/client/client';
import { abortError, type Transport } from '@lapse/kube/client/transport';
import { expect, test } from 'vitest';
import { impatient } from './readOnlyCluster.ts';

const answer = { status: 200, headers: {}, body: Buffer.from('{"kind":"APIVersions"}') };

/** Responds to this many requests, then never again. */
function server(answers: number): Transport {
  let left = answers;
  return {
    request: ({ signal }) =>
      left-- > 0
        ? Promise.resolve(answer)
        : new Promise((_, reject) => {
            signal?.addEventListener('abort', () => reject(abortError(signal, true)));
          }),
    stream: () => Promise.reject(new Error('nobody streams')),
  };
}

function look(answers: number) {
  const clock = new VirtualClock();
  const said: number[] = [];
  const start = clock.now();
  const transport = impatient(server(answers), { clock, say: () => void said.push(clock.now() - start) });
  const client = createClient({ transport, clock, random: seededRandom(1) });
  const ask = () => client.raw({ method: 'GET', path: '/api' });
  return { clock, said, ask, since: () => clock.now() - start };
}

test('an API server that never responds is named once after three seconds, and the command fails within a minute', async () => {
  const { clock, said, ask, since } = look(0);
  const failed = ask().then(
    () => 'answered',
    ({ message }: Error) => `${message} at ${since() < minutes(1) ? 'once' : 'length'}`,
  );
  await clock.advance(minutes(3), () => new Promise((resolve) => setImmediate(resolve)));
  expect(await failed).toBe('no response to GET /api within 10 s at once');
  expect(said).toEqual([3000]);
});

test('an API server that has responded before gets the usual timeout', async () => {
  const { clock, said, ask } = look(1);
  await ask();
  await clock.advance(seconds(5));
  expect(said).toEqual([]);
  const failed = ask().catch(({ message }: Error) => message);
  await clock.advance(minutes(5), () => new Promise((resolve) => setImmediate(resolve)));
  expect(await failed).toBe('no response to GET /api within 30 s');
});
