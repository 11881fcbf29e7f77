// Test fixture: a cache of the fake server's objects on a virtual clock, with a record of the changes listeners received.

import { type Millis, millis } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, type ClientOptions, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import type { CacheHandle } from './caches.ts';
import { Caches, type CachesOptions } from './caches.ts';
import { FakeServer } from './fakeServer.testkit.ts';
import { Interner } from './interner.ts';
import type { Source } from './source.ts';

export interface Thing extends KubeObject {
  spec?: { size?: number; owner?: string };
}
export const Thing = defineKind<Thing>({
  group: '',
  version: 'v1',
  kind: 'Thing',
  resource: 'things',
  namespaced: true,
});

/** Waits until all pending work is done. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve));
};

export interface ReceivedChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly initial: boolean;
}

export function reflectorKit(
  options: Partial<Omit<CachesOptions, 'client'>> & {
    seed?: number;
    source?: Partial<Source<Thing>>;
    client?: Partial<ClientOptions>;
  } = {},
) {
  const { seed = 1, source = {}, client: clientOptions = {}, ...cachesOptions } = options;
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const server = new FakeServer();
  const client: Client = createClient({
    transport: inProcessTransport(server.handle),
    clock,
    random,
    flow: 'none',
    ...clientOptions,
  });
  const interner = new Interner();
  const errors: string[] = [];
  const statuses: string[] = [];
  const caches = new Caches({
    client,
    clock,
    random,
    interner,
    freeze: true,
    onError: (_source, error) => errors.push(String(error)),
    onStatus: (_source, { state, problem }) =>
      statuses.push(problem === undefined ? state : `${state}: ${problem.verb} ${problem.kind}`),
    ...cachesOptions,
  });
  const changes: ReceivedChange[] = [];
  return {
    clock,
    server,
    client,
    caches,
    interner,
    errors,
    statuses,
    changes,
    acquire(): CacheHandle<Thing> {
      const handle = caches.acquire<Thing>({ kind: Thing, ...source });
      handle.listen(({ before, after, initial }) =>
        changes.push({
          name: (after ?? before)!.metadata.name!,
          before: before?.metadata.resourceVersion,
          after: after?.metadata.resourceVersion,
          initial,
        }),
      );
      return handle;
    },
    pass: (length: number): Promise<void> => clock.advance(length as Millis, settle),
    settle,
    /** `name@version` of everything, sorted. */
    contents: (handle: CacheHandle<Thing>): string[] => describe(handle.reader.list()),
    serverContents: (): string[] => describe(server.objects.values()),
  };
}

function describe(objects: Iterable<KubeObject>): string[] {
  return [...objects].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
}

export const MINUTE = millis(60_000);

/** A server with two things. */
export const withTwo = (options: Parameters<typeof reflectorKit>[0] = {}) => {
  const kit = reflectorKit(options);
  kit.server.put('a');
  kit.server.put('b');
  return kit;
};
