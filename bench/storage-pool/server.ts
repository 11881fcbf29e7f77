// A minimal server for pools: lists, watches and status patches over HTTP, in a separate thread, so that its CPU time
// and memory do not count for the controller. It checks only the version of a patch.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { KubeObject } from '@lapse/kube/api/object';
import { agent, greedyPool, lvg, node, pool, type Size } from './fleet.ts';

export type Order =
  | { readonly kind: 'flip'; readonly nodes: readonly number[]; readonly ready: boolean }
  | { readonly kind: 'heartbeat'; readonly nodes: readonly number[] }
  | { readonly kind: 'greedy' };
export type Report = { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'done' };

const size = workerData as Size;
const tell = (report: Report) => parentPort!.postMessage(report);
let revision = 1000;

class Collection {
  readonly #kind: string;
  readonly #bytes = new Map<string, Buffer>();
  readonly #watchers = new Set<ServerResponse>();

  constructor(kind: string, objects: Iterable<KubeObject>) {
    this.#kind = kind;
    for (const object of objects) this.put(object);
  }

  get(name: string): KubeObject | undefined {
    const bytes = this.#bytes.get(name);
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as KubeObject);
  }

  put(object: KubeObject): Buffer {
    const name = object.metadata.name!;
    const type = this.#bytes.has(name) ? 'MODIFIED' : 'ADDED';
    const metadata = { ...object.metadata, resourceVersion: String(++revision) };
    const bytes = Buffer.from(JSON.stringify({ ...object, metadata }));
    this.#bytes.set(name, bytes);
    for (const watcher of this.#watchers) {
      watcher.write(`{"type":"${type}","object":`);
      watcher.write(bytes);
      watcher.write('}\n');
    }
    return bytes;
  }

  list(response: ServerResponse): void {
    const items = [...this.#bytes.values()].map(String).join(',');
    const metadata = JSON.stringify({ resourceVersion: String(revision) });
    response.end(`{"kind":"${this.#kind}List","apiVersion":"v1","metadata":${metadata},"items":[${items}]}`);
  }

  watch(response: ServerResponse): void {
    response.flushHeaders();
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
  }
}

function* times<T>(count: number, make: (i: number) => T): Generator<T> {
  for (let i = 0; i < count; i++) yield make(i);
}
const collections: Readonly<Record<string, Collection>> = {
  nodes: new Collection(
    'Node',
    times(size.nodes, (i) => node(i, size)),
  ),
  lvmvolumegroups: new Collection(
    'LVMVolumeGroup',
    times(2 * size.nodes, (i) => lvg(i, size)),
  ),
  pods: new Collection('Pod', times(size.nodes, agent)),
  replicatedstoragepools: new Collection(
    'ReplicatedStoragePool',
    times(size.pools, (i) => pool(i, size)),
  ),
};

async function patch(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as KubeObject & {
    status: Record<string, unknown>;
  };
  const pools = collections.replicatedstoragepools!;
  const before = pools.get(name)!;
  if (body.metadata.resourceVersion !== before.metadata.resourceVersion) {
    const details = { name, kind: 'replicatedstoragepools' };
    response.statusCode = 409;
    response.end(
      JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409, details }),
    );
    return;
  }
  const status = { ...(before.status as object), ...body.status };
  response.end(pools.put({ ...before, status }));
}

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  const [path = '', query = ''] = request.url!.split('?');
  const parts = path.split('/');
  if (request.method === 'PATCH') void patch(request, response, parts.at(-2)!);
  else if (query.includes('watch=')) collections[parts.at(-1)!]!.watch(response);
  else collections[parts.at(-1)!]!.list(response);
});
server.listen(0, '127.0.0.1', () =>
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port }),
);

parentPort!.on('message', (order: Order) => {
  const nodes = collections.nodes!;
  if (order.kind === 'greedy') collections.replicatedstoragepools!.put(greedyPool(size));
  else if (order.kind === 'flip') for (const i of order.nodes) nodes.put(node(i, size, order.ready));
  else
    for (const i of order.nodes) {
      const beating = node(i, size);
      for (const condition of beating.status!.conditions!)
        Object.assign(condition, { lastHeartbeatTime: new Date().toISOString() });
      nodes.put(beating);
    }
  tell({ kind: 'done' });
});
