// Object graphs with one line per object, for the embedded server with the simulated garbage collector and for a real
// cluster:
//   `b<a`              b is owned by a                       `b<a!`   and blocks its deletion in the foreground
//   `b<a,c!`           two owners                            `b<~a`   the right name, a uid that does not exist
//   `b [x.dev/hold]`   with a finalizer                      `b<a@Secret`, `b<a@v9`  a wrong kind or version of the owner
//   `other/b`          in the second namespace               `b<a=z`  a's uid under the name z
//   `secret:b` `widget:b` `gadget:b`                         kinds; widgets are custom, gadgets custom and cluster-scoped
// An owner that is not in the graph does not exist.

import { randomUUID } from 'node:crypto';
import { type Kind, keyOf, metadataOf } from '@lapse/kube/api/kind';
import { ConfigMap, CustomResourceDefinition, Namespace, Secret } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { apiVersionOf, type KubeObject, type OwnerReference } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import type { Propagation } from '@lapse/kube/client/delete';

const custom = (kind: string, namespaced: boolean) =>
  defineCustomKind({
    kind: { group: 'gc.test', version: 'v1', kind, resource: `${kind.toLowerCase()}s`, namespaced },
    description: 'Something to own and to be owned.',
    spec: { type: 'object' },
    required: [],
  });
const widgets = custom('Widget', true);
const gadgets = custom('Gadget', false);

export const KINDS: Readonly<Record<string, Kind>> = {
  cm: ConfigMap,
  secret: Secret,
  widget: widgets.kind,
  gadget: gadgets.kind,
};
export const HOME = 'gc-home';
const OTHER = 'gc-other';

export interface Graph {
  readonly objects: readonly string[];
  /** `a` (background), `a:Foreground`, `a:Orphan`; deleted in this order. */
  readonly deletes: readonly string[];
}

interface OwnerLine {
  readonly name: string;
  readonly blocks: boolean;
  readonly wrongUid: boolean;
  readonly alias: string;
  readonly as: string;
}
interface ObjectLine {
  readonly name: string;
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerLine[];
  readonly finalizers: readonly string[];
}

const LINE = /^(?:(other)\/)?(?:(\w+):)?([\w-]+)(?:<(\S+))?(?: \[(.*)\])?$/;
const OWNER = /^(~?)([\w-]+)(?:=([\w-]+))?(?:@(\w+))?(!?)$/;

function parseLine(line: string): ObjectLine {
  const [, other, kindName = 'cm', name, owners, finalizers] = LINE.exec(line) ?? [];
  const kind = KINDS[kindName];
  if (name === undefined || kind === undefined) throw new Error(`not an object: ${line}`);
  const namespace = other === undefined ? HOME : OTHER;
  return {
    name,
    kind,
    namespace: kind.namespaced ? namespace : undefined,
    owners: owners?.split(',').map(parseOwner) ?? [],
    finalizers: finalizers?.split(',') ?? [],
  };
}

function parseOwner(text: string): OwnerLine {
  const [, wrongUid, name, alias, as = '', blocks] = OWNER.exec(text) ?? [];
  if (name === undefined) throw new Error(`not an owner: ${text}`);
  return { name, blocks: blocks === '!', wrongUid: wrongUid === '~', alias: alias ?? name, as };
}

/** Builds many graphs in the same namespaces. Every name contains the number of its graph. */
export class Bench {
  readonly #client: Client;
  readonly #first: number;
  readonly #made = new Map<string, { kind: Kind; object: KubeObject }>();

  /** Numbers the graphs from `first`. Benches on the same cluster need different numbers. */
  constructor(client: Client, first = 0) {
    this.#client = client;
    this.#first = first;
  }

  /** Creates two namespaces and two CRDs. Resolves when custom objects can be created. */
  async prepare(pause: () => Promise<void>): Promise<void> {
    for (const name of [HOME, OTHER])
      objectOf(await this.#client.create(Namespace, { ...typed(Namespace), metadata: { name } }));
    for (const { kind, crd } of [widgets, gadgets]) {
      objectOf(await this.#client.create(CustomResourceDefinition, crd as CustomResourceDefinition));
      for (;;) {
        await pause();
        const list = await this.#client.list(kind).catch(() => undefined);
        if (list !== undefined) break;
      }
    }
  }

  /** Creates the objects first, then sets the owner references, because these need the uids. */
  async build(graphs: readonly Graph[]): Promise<void> {
    const lines = graphs.flatMap(({ objects }, graph) =>
      objects.map((line) => ({ graph: this.#first + graph, line: parseLine(line) })),
    );
    await inBatches(lines, async ({ graph, line }) => {
      const { kind, namespace, finalizers } = line;
      const metadata = {
        name: `g${graph}-${line.name}`,
        ...(namespace === undefined ? {} : { namespace }),
        finalizers: [...finalizers],
      };
      const object = objectOf(await this.#client.create(kind, { ...typed(kind), metadata }));
      this.#made.set(`g${graph}-${line.name}`, { kind, object });
    });
    await inBatches(
      lines.filter(({ line }) => line.owners.length > 0),
      async ({ graph, line }) => {
        const { kind, object } = this.#made.get(`g${graph}-${line.name}`)!;
        const ownerReferences = line.owners.map((owner) => this.#reference(graph, owner));
        objectOf(
          await this.#client.patch(kind, keyOf(object), {
            type: 'merge',
            patch: { metadata: { ownerReferences } },
          }),
        );
      },
    );
  }

  async delete(graphs: readonly Graph[]): Promise<void> {
    await inBatches(
      graphs.map(({ deletes }, graph) => ({ deletes, graph: this.#first + graph })),
      async ({ deletes, graph }) => {
        for (const text of deletes) {
          const [name, propagation = 'Background'] = text.split(':') as [string, Propagation?];
          const { kind, object } = this.#made.get(`g${graph}-${name}`)!;
          await this.#client.delete(kind, keyOf(object), { propagation });
        }
      },
    );
  }

  /** The remaining objects once nothing changes any more. `pause` lets the collector run for half a second. */
  async atRest(count: number, pause: () => Promise<unknown>): Promise<string[][]> {
    let before = '';
    for (let unchanged = 0; ; ) {
      await pause();
      const left = await this.survivors(count);
      const now = JSON.stringify(left);
      unchanged = now === before ? unchanged + 1 : 0;
      before = now;
      if (unchanged === 6) return left;
    }
  }

  /** The remaining objects of each graph in the same notation. Wrong uids show as `~`. */
  async survivors(count: number): Promise<string[][]> {
    const left: string[][] = Array.from({ length: count }, () => []);
    for (const [prefix, kind] of Object.entries(KINDS)) {
      const { items } = await this.#client.list(metadataOf(kind));
      for (const { metadata } of items) {
        const [, graph, name] = /^g(\d+)-(.*)$/.exec(metadata.name!) ?? [];
        if (graph === undefined) continue;
        const place = (metadata.namespace === OTHER ? 'other/' : '') + (prefix === 'cm' ? '' : `${prefix}:`);
        const owners = (metadata.ownerReferences ?? []).map((ref) => this.#shown(Number(graph), ref));
        const finalizers = metadata.finalizers?.length ? ` [${metadata.finalizers.join()}]` : '';
        const ending = metadata.deletionTimestamp === undefined ? '' : ' ending';
        left[Number(graph) - this.#first]?.push(
          place + name + (owners.length > 0 ? `<${owners.join()}` : '') + finalizers + ending,
        );
      }
    }
    return left.map((lines) => lines.sort());
  }

  #reference(graph: number, owner: OwnerLine): OwnerReference {
    const made = this.#made.get(`g${graph}-${owner.name}`);
    const kind = made?.kind ?? ConfigMap;
    const isVersion = /^v\d/.test(owner.as);
    return {
      apiVersion: isVersion ? owner.as : apiVersionOf(kind),
      kind: owner.as === '' || isVersion ? kind.kind : owner.as,
      name: `g${graph}-${owner.alias}`,
      uid: made === undefined || owner.wrongUid ? randomUUID() : made.object.metadata.uid!,
      ...(owner.blocks ? { blockOwnerDeletion: true } : {}),
    };
  }

  #shown(graph: number, ref: OwnerReference): string {
    const name = ref.name.slice(`g${graph}-`.length);
    const isRight = this.#made.get(ref.name)?.object.metadata.uid === ref.uid;
    const blocks = ref.blockOwnerDeletion === false ? '?' : '';
    return (isRight ? '' : '~') + name + (ref.blockOwnerDeletion ? '!' : blocks);
  }
}

const typed = (kind: Kind) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind });

async function inBatches<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += 32)
    await Promise.all(items.slice(start, start + 32).map(act));
}
