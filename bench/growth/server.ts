// server.ts COUNT [DIRECTORY]: the embedded API server, except that its Jobs are generated on request: COUNT finished
// ones that wait for ten years, and one that is due. Writes a kubeconfig, then prints `ready`, and `deleted` when the
// due one is deleted. A real server could not hold a million Jobs on the benchmark machines.

import { listen } from '@lapse/apiserver/http/listen';
import { createServer } from '@lapse/apiserver/server';
import type { HttpHandler, HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { KubeObject } from '@lapse/kube/api/object';
import { writeKubeconfig } from '../kubeconfig.ts';
import { job } from '../runtime-memory/job.ts';
import { encodeEvent, encodeList } from './protobuf.ts';

const TEN_YEARS = 315_360_000;
const REVISION = '99999999';
const PER_CHUNK = 200;
const headers = { 'content-type': 'application/json' };
const encode = (value: unknown) => Buffer.from(JSON.stringify(value));

const [, , countText = '1000', directory = '.'] = process.argv;
const count = Number(countText);
let isDeleted = false;
let onDeleted: (() => void) | undefined;

function jobAt(i: number): KubeObject {
  return i < count ? job(i, TEN_YEARS) : due;
}
const due = job(count, 1);
const duePath = `/apis/batch/v1/namespaces/${due.metadata.namespace}/jobs/${due.metadata.name}`;
const total = () => (isDeleted ? count : count + 1);

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const wants = (request: HttpRequest) => String(request.headers['accept']).startsWith(PROTOBUF);

function page(query: URLSearchParams, protobuf: boolean): HttpResponse {
  const from = Number(query.get('continue') ?? 0);
  const to = Math.min(total(), from + Number(query.get('limit') ?? total()));
  const items = Array.from({ length: to - from }, (_, i) => jobAt(from + i));
  const metadata = { resourceVersion: REVISION, ...(to < total() ? { continue: String(to) } : {}) };
  const list = { kind: 'JobList', apiVersion: 'batch/v1', metadata, items };
  if (protobuf) return { status: 200, headers: { 'content-type': PROTOBUF }, body: encodeList(list) };
  return { status: 200, headers, body: encode(list) };
}

async function* events(
  initial: boolean,
  protobuf: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const event = (type: string, object: KubeObject): Buffer =>
    protobuf ? encodeEvent(type, object) : Buffer.from(`${JSON.stringify({ type, object })}\n`);
  for (let from = 0; initial && from < total(); from += PER_CHUNK) {
    const length = Math.min(PER_CHUNK, total() - from);
    yield Buffer.concat(Array.from({ length }, (_, i) => event('ADDED', jobAt(from + i))));
  }
  if (initial) {
    const metadata = { resourceVersion: REVISION, annotations: { 'k8s.io/initial-events-end': 'true' } };
    yield event('BOOKMARK', { kind: 'Job', apiVersion: 'batch/v1', metadata });
  }
  await new Promise<void>((resolve) => {
    onDeleted = resolve;
    signal?.addEventListener('abort', () => resolve());
  });
  if (signal?.aborted !== true)
    yield event('DELETED', { ...due, metadata: { ...due.metadata, resourceVersion: '100000000' } });
  await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
}

function aboutTheOneDue({ method }: HttpRequest): HttpResponse {
  if (isDeleted) {
    const gone = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    return { status: 404, headers, body: encode(gone) };
  }
  if (method === 'DELETE') {
    isDeleted = true;
    onDeleted?.();
    process.stdout.write('deleted\n');
  }
  return { status: 200, headers, body: encode(due) };
}

const server = await createServer();
const handle: HttpHandler = async (request) => {
  const url = new URL(request.path, 'http://x');
  if (url.pathname === duePath) return aboutTheOneDue(request);
  if (url.pathname !== '/apis/batch/v1/jobs') return server.handle(request);
  const query = url.searchParams;
  const protobuf = wants(request);
  if (!['true', '1'].includes(query.get('watch') ?? '')) return page(query, protobuf);
  const type = protobuf ? `${PROTOBUF};stream=watch` : 'application/json';
  const body = events(query.get('sendInitialEvents') === 'true', protobuf, request.signal);
  return { status: 200, headers: { 'content-type': type }, body };
};
const { url } = await listen(handle);
writeKubeconfig(directory, url);
process.stdout.write('ready\n');
