// The reflector against the embedded API server: the cache converges under random traffic, broken streams and compaction.

import { createServer } from '@lapse/apiserver/server';
import { millis } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Caches } from './caches.ts';
import { Interner } from './interner.ts';
import { ConfigMap, configMap } from './world.testkit.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd');
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), name, label: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cut' as const), bytes: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'compact' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), length: fc.integer({ min: 1, max: 90_000 }) }),
  },
);

async function setup(listBy: 'stream' | 'pages', seed: number) {
  const clock = new VirtualClock();
  const server = await createServer({ clock, random: seededRandom(4) });
  const random = seededRandom(seed);
  const user = createClient({ transport: inProcessTransport(server.handle), clock, random, flow: 'none' });
  // How many bytes the open stream may still transfer.
  let left = Number.POSITIVE_INFINITY;
  async function* cutting(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      if (left < chunk.length) {
        yield chunk.subarray(0, left);
        left = Number.POSITIVE_INFINITY;
        return;
      }
      left -= chunk.length;
      yield chunk;
    }
  }
  const transport = inProcessTransport(async (request) => {
    const response = await server.handle(request);
    return response.body instanceof Uint8Array ? response : { ...response, body: cutting(response.body) };
  });
  const client = createClient({ transport, clock, random, flow: 'none' });
  const caches = new Caches({ client, clock, random, interner: new Interner(), freeze: true, listBy });
  // Objects also enter and leave the selection.
  const handle = caches.acquire({ kind: ConfigMap, namespace: 'default', labelSelector: 'in=yes' });
  const settle = async () => {
    for (let i = 0; i < 8; i++) await nextTurn();
  };
  return {
    clock,
    server,
    user,
    caches,
    handle,
    settle,
    cut: (bytes: number) => {
      left = bytes;
    },
    heal: () => {
      left = Number.POSITIVE_INFINITY;
    },
  };
}

test.each(['stream', 'pages'] as const)(
  'lists by %s and converges to the selected objects',
  async (listBy) => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), fc.nat(100), async (commands, seed) => {
        const s = await setup(listBy, seed);
        const key = (which: string) => ({ namespace: 'default', name: which });
        for (const c of commands) {
          if (c.do === 'pass') await s.clock.advance(millis(c.length), s.settle);
          else if (c.do === 'compact') s.server.compact();
          else if (c.do === 'cut') s.cut(c.bytes);
          else if (c.do === 'delete') await s.user.delete(ConfigMap, key(c.name));
          else {
            const object = configMap(c.name, {}, { labels: { in: c.label ? 'yes' : 'no' } });
            const made = await s.user.create(ConfigMap, object);
            if (made.kind === 'exists') await s.user.update(ConfigMap, object);
          }
        }
        s.heal();
        await s.clock.advance(millis(5 * 60_000), s.settle);
        const truth = (await s.user.list(ConfigMap, { namespace: 'default', labelSelector: 'in=yes' })).items;
        const shown = (items: Iterable<ConfigMap>) =>
          [...items].map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort();
        expect(shown(s.handle.reader.list())).toEqual(shown(truth));
        s.handle.release();
        await s.caches.close();
        await s.server.close();
      }),
      { numRuns: 40 },
    );
  },
);
