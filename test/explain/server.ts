// A situation on the embedded server, on which the advice can be executed: by `lapse explain` itself, and by an
// implementation of the few kubectl commands that are ever advised.

import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { millis, plus } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { Kind } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { FAMILIES } from 'lapse/controllers/registry';
import { resolveKind } from 'lapse/forecast/resolveKind';
import { readingFrom } from 'lapse/forecast/snapshot';
import { applyCrds, kindsOf } from 'lapse/manager/crds';
import { expect } from 'vitest';
import { NOW } from './answer.ts';
import { CUSTOM } from './world.ts';

const DAY = 86_400_000;

/** A CRD whose objects may have any fields. */
const definitionOf = ({ group, version, kind, resource, namespaced }: Kind): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${resource}.${group}` },
  spec: {
    group,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    names: { kind, plural: resource, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

/** Fields that situations omit for brevity, but a server requires on changes. */
function complete(object: KubeObject): KubeObject {
  const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] };
  const { spec = {} } = object as { spec?: Record<string, unknown> };
  if (object.kind === 'Pod') return { ...object, spec: { ...pod, ...spec } } as KubeObject;
  const selector = { matchLabels: { app: 'x' } };
  const template = { metadata: { labels: { app: 'x' } }, spec: pod };
  if (object.kind === 'Job')
    return { ...object, spec: { manualSelector: true, selector, template, ...spec } } as KubeObject;
  return object;
}

export class ServedWorld {
  readonly client: Client;
  served: readonly ServedKind[] = [];
  readonly #server: ApiServer;
  #there: readonly KubeObject[] = [];

  static async open(): Promise<ServedWorld> {
    // CRDs are older than the objects of their kinds in the situations.
    const clock = new VirtualClock(plus(NOW, millis(-DAY)));
    const server = await createServer({ clock, random: seededRandom(1) });
    const world = new ServedWorld(server, clock);
    const custom = CUSTOM.map((kind) => ({
      kind: CustomResourceDefinition as Kind,
      crd: definitionOf(kind),
    }));
    await applyCrds(world.client, clock, [...kindsOf(FAMILIES), ...STOCK_SNAPSHOT_KINDS, ...custom]);
    world.served = await world.client.discovery.all();
    return world;
  }

  private constructor(server: ApiServer, clock: VirtualClock) {
    this.#server = server;
    const transport = inProcessTransport(server.handle);
    this.client = createClient({ transport, clock, random: seededRandom(2) });
  }

  get read() {
    return readingFrom(this.client);
  }

  /** Loads these objects, and removes all earlier ones. */
  async hold(objects: readonly KubeObject[]): Promise<void> {
    for (const before of this.#there) await this.#remove(before);
    this.#there = objects.map(complete);
    for (const object of this.#there) expect(await this.#server.importObject(object), object.kind).toBe(true);
  }

  /** A kubectl command, word by word. */
  async kubectl([...words]: readonly string[]): Promise<void> {
    const take = (flag: string) => {
      const at = words.indexOf(flag);
      return at < 0 ? undefined : words.splice(at, 2)[1];
    };
    const namespace = take('-n');
    const patch = take('-p');
    const isOverwriting = words.includes('--overwrite');
    const [verb, target = '', ...rest] = words.filter((word) => !word.startsWith('--'));
    const [word = '', name = rest.shift() ?? ''] = target.split('/');
    const kind = resolveKind(this.served, word);
    const key = kind.namespaced ? { namespace: namespace ?? 'default', name } : { name };
    expect(verb).toBe(patch === undefined ? 'annotate' : 'patch');
    const wanted =
      patch === undefined
        ? { metadata: { annotations: await this.#annotations(kind, key, rest, isOverwriting) } }
        : (JSON.parse(patch) as object);
    objectOf(await this.client.patch(kind as Kind, key, { type: 'merge', patch: wanted }));
  }

  async #annotations(kind: Kind, key: { name: string }, words: readonly string[], isOverwriting: boolean) {
    const { annotations = {} } = (await this.client.get(kind, key))!.metadata;
    return Object.fromEntries(
      words.map((word) => {
        if (word.endsWith('-')) return [word.slice(0, -1), null];
        const [name = '', value = ''] = word.split('=');
        // As kubectl does.
        expect(isOverwriting || !(name in annotations), `${name} already has a value`).toBe(true);
        return [name, value];
      }),
    );
  }

  async #remove(object: KubeObject): Promise<void> {
    const { finalizers: _, deletionTimestamp: __, ownerReferences: ___, ...metadata } = object.metadata;
    await this.#server.importObject({ ...object, metadata });
    if (object.kind === 'Namespace') return;
    const kind = this.served.find(
      (one) => one.kind === object.kind && object.apiVersion.startsWith(one.group),
    )!;
    const { name = '', namespace } = metadata;
    await this.client.delete(kind as Kind, kind.namespaced ? { name, namespace: namespace! } : { name }, {
      gracePeriodSeconds: 0,
    } as never);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
