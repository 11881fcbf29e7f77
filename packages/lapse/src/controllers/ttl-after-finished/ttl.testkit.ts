// For tests: finished Jobs and Pods, and a world in which these controllers run on the virtual clock.

import { createServer } from '@lapse/apiserver/server';
import { formatTime, type Instant } from '@lapse/base/instant';
import type { Fields, Log } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { Kind } from '@lapse/kube/api/kind';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import type { EventNote } from '@lapse/runtime/events/types';
import { Registry } from '@lapse/runtime/metrics/registry';
import { World, type WorldOptions } from '@lapse/runtime/world.testkit';
import { trustedTime } from '#deletion/skewGuard';
import { POD_TTL_ANNOTATION } from '#expiry/pod';
import type { Services } from '../family.ts';
import { ttlAfterFinishedFamily } from './family.ts';

export interface JobShape {
  readonly ttl?: number;
  readonly finishedAt?: string | undefined;
  readonly how?: 'Complete' | 'Failed';
  readonly metadata?: Partial<KubeObject['metadata']>;
}

/** A Job as the cache contains it. */
export function job({ ttl, finishedAt, how = 'Complete', metadata = {} }: JobShape): Job {
  const made: Job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'report', namespace: 'default', uid: 'u-1', resourceVersion: '7', ...metadata },
    spec: {},
  };
  if (ttl !== undefined) made.spec = { ttlSecondsAfterFinished: ttl };
  if (finishedAt !== undefined)
    made.status = { conditions: [{ type: how, status: 'True', lastTransitionTime: finishedAt }] };
  return made;
}

const container = { name: 'main', image: 'example.com/report:1' };

export interface TtlWorldOptions extends Partial<Omit<WorldOptions, 'controllers'>> {
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly services?: Partial<Services>;
  /** Called before the manager is created. */
  readonly clock?: VirtualClock;
}

export class TtlWorld {
  readonly world: World;
  readonly events: string[] = [];
  readonly said: string[] = [];
  readonly registry = new Registry();

  constructor(world: (kit: TtlWorld) => World) {
    this.world = world(this);
  }

  now = (): string => formatTime(this.world.clock.now());
  /** Seconds since the start, as a Kubernetes timestamp. */
  at = (second: number): string => formatTime((this.world.start + second * 1000) as Instant);
  start = (): void => this.world.manager.start();
  /** Stops the manager. The server keeps running for another one. */
  async stop(): Promise<void> {
    const stopped = this.world.manager.stop();
    await this.pass(60);
    await stopped;
  }
  pass = (seconds: number): Promise<void> => this.world.pass(seconds * 1000);

  async createJob(name: string, ttl?: number, metadata: Partial<KubeObject['metadata']> = {}): Promise<Job> {
    const made: Job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: 'default', ...metadata },
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [container] } },
        ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }),
      },
    };
    return objectOf(await this.world.user.create(Job, made));
  }

  /** Through /status, like the Job controller. The time may lie in the past. */
  async finish(name: string, second = 0, how: 'Complete' | 'Failed' = 'Complete'): Promise<void> {
    const time = this.at(second);
    const before = how === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    const conditions = [before, how].map((type) => ({ type, status: 'True', lastTransitionTime: time }));
    const completion = how === 'Complete' ? { completionTime: time, succeeded: 1 } : { failed: 1 };
    await this.#patch(name, { status: { startTime: time, ...completion, conditions } }, 'status');
  }

  /** Creates a Job that finished at that second. */
  async finishedJob(name: string, ttl?: number, second = 0): Promise<void> {
    await this.createJob(name, ttl);
    await this.finish(name, second);
  }

  patch = (name: string, patch: object): Promise<void> => this.#patch(name, patch);
  setTtl = (name: string, ttl: number | null): Promise<void> =>
    this.#patch(name, { spec: { ttlSecondsAfterFinished: ttl } });
  get = (name: string) => this.world.user.get(Job, key(name));
  remove = (name: string) => this.world.user.delete(Job, key(name), { propagation: 'Background' });
  exists = async (name: string): Promise<boolean> => (await this.get(name)) !== undefined;

  async createPod(name: string, more: PodShape = {}): Promise<Pod> {
    const { spec, ...metadata } = more;
    const made: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', ...metadata },
      spec: { restartPolicy: 'Never', ...spec, containers: [container] } as Pod['spec'] & object,
    };
    return objectOf(await this.world.user.create(Pod, made));
  }
  async podStatus(name: string, status: object): Promise<void> {
    const patch = { type: 'merge', patch: { status } } as const;
    objectOf(await this.world.user.patch(Pod, key(name), patch, { subresource: 'status' }));
  }
  /** Creates a Pod that finished at the start. */
  async finishedPod(name: string, ttl: number): Promise<void> {
    await this.createPod(name, { annotations: { [POD_TTL_ANNOTATION]: String(ttl) } });
    const state = { terminated: { exitCode: 0, finishedAt: this.at(0) } };
    const status = {
      name: 'main',
      image: container.image,
      imageID: '',
      ready: false,
      restartCount: 0,
      state,
    };
    await this.podStatus(name, { phase: 'Succeeded', containerStatuses: [status] });
  }
  getPod = (name: string) => this.world.user.get(Pod, key(name));

  /** Names of the existing Jobs or Pods. */
  async there(kind: Kind): Promise<string[]> {
    const { items } = await this.world.user.list(kind);
    return items.map(({ metadata }) => metadata.name!);
  }
  /** `METHOD name` of every request for a single object, in order. */
  asked = (): string[] =>
    this.world.requests
      .map((request) => /^(\w+) .*\/(?:jobs|pods)\/([^?/]+)/.exec(request))
      .flatMap((match) => (match === null ? [] : [`${match[1]} ${match[2]}`]));
  metric = (line: string): number | undefined => {
    const found = this.registry
      .text()
      .split('\n')
      .find((text) => text.startsWith(`${line} `));
    return found === undefined ? undefined : Number(found.slice(line.length + 1));
  };

  async #patch(name: string, patch: object, subresource?: string): Promise<void> {
    const options = subresource === undefined ? {} : { subresource };
    objectOf(await this.world.user.patch(Job, key(name), { type: 'merge', patch }, options));
  }
}

export type PodShape = Partial<KubeObject['metadata']> & { readonly spec?: { restartPolicy?: string } };

export const key = (name: string) => ({ namespace: 'default', name });

const DEFAULTS = {
  concurrency: 32,
  jobPropagation: 'Foreground',
  jobDeletionEvents: false,
  podDeletionEvents: true,
};

/** Another manager on the same server and clock: a restart, or a second replica. */
export function worldWith(
  server: Awaited<ReturnType<typeof createServer>>,
  clock: VirtualClock,
  options: TtlWorldOptions,
): TtlWorld {
  return new TtlWorld((kit) => {
    const { gates = {}, configuration = {}, services = {}, ...worldOptions } = options;
    const log = recordingLog((line) => kit.said.push(line));
    const isEnabled = (gate: string) =>
      gates[gate] ?? ttlAfterFinishedFamily.gates.find(({ name }) => name === gate)?.default ?? false;
    const given = { clock, registry: kit.registry, log, guard: trustedTime(clock), isEnabled, ...services };
    const { controllers } = ttlAfterFinishedFamily.create(given as Services, {
      ttlAfterFinished: { ...DEFAULTS, ...configuration } as never,
    });
    const record = (regarding: { metadata: { name?: string } }, note: EventNote) =>
      kit.events.push(`${regarding.metadata.name} ${note.reason}: ${note.note}`);
    return new World(server, clock, {
      controllers,
      registry: kit.registry,
      log,
      enforceRights: true,
      events: { sink: { record }, pending: 0, close: async () => {} },
      ...worldOptions,
    });
  });
}

export const inTtlWorld =
  (options: TtlWorldOptions, test: (kit: TtlWorld) => Promise<void>) => async (): Promise<void> => {
    const clock = new VirtualClock();
    const kit = worldWith(await createServer({ clock, random: seededRandom(7) }), clock, options);
    try {
      await test(kit);
    } finally {
      await kit.world.close();
    }
  };

function recordingLog(write: (line: string) => void, fixed: Fields = {}): Log {
  const at = (level: string) => (_fields: Fields, message: string) => write(`${level} ${message}`);
  return {
    debug: () => {},
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => recordingLog(write, { ...fixed, ...fields }),
  };
}
