// /openapi/v3: an index of documents with their hashes, and the documents, which clients may cache forever by hash.
// /openapi/v2: everything in one document, for older clients.

import { createHash } from 'node:crypto';
import { formatHttpDate } from '@lapse/base/httpDate';
import { hours, type Instant, plus } from '@lapse/base/instant';
import { nextTurn } from '@lapse/base/turn';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import type { Core } from '../context.ts';
import { parseAccept } from '../http/negotiate.ts';
import { JSON_TYPE, textResponse } from '../http/respond.ts';
import type { Registry } from '../resources/registry.ts';
import { documentSources, type Source } from './documents.ts';
import { swagger } from './swagger.ts';
import { swaggerProtobuf } from './swaggerProtobuf.ts';

interface Document {
  readonly body: Uint8Array;
  /** Without quotes. */
  readonly hash: string;
  readonly made: Instant;
  /** The inputs of the document, which is kept while they are unchanged. */
  readonly inputs: readonly unknown[];
}

const kept = new WeakMap<Registry, Map<string, Document>>();

/** Returns a document; makes it on first use and when its inputs changed. */
function keep(core: Core, name: string, { inputs, make }: Source, encode = encodeJson): Document {
  const documents = kept.get(core.registry) ?? new Map<string, Document>();
  kept.set(core.registry, documents);
  const known = documents.get(name);
  if (known && isSame(known.inputs, inputs)) return known;
  const body = encode(make());
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase();
  const document = { body, hash, made: core.clock.now(), inputs };
  documents.set(name, document);
  return document;
}

const encodeJson = (value: JsonObject): Uint8Array => Buffer.from(writeJson(value));

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, i) => value === b[i]);

/** Undefined when the path is not an OpenAPI path. */
export async function openApi(
  core: Core,
  path: string,
  query: URLSearchParams,
  request: HttpRequest,
): Promise<HttpResponse | undefined> {
  if (path === '/openapi/v2') return serveSwagger(core, request);
  if (path === '/openapi/v3') return index(core);
  if (!path.startsWith('/openapi/v3/')) return undefined;
  const name = path.slice('/openapi/v3/'.length);
  const source = documentSources(core).get(name);
  if (!source) return empty(404, {});
  const document = keep(core, name, source);
  return serveDocument(core, { path, document, hash: query.get('hash') ?? '' }, request);
}

const relativeUrl = (path: string, document: Document): string => `${path}?hash=${document.hash}`;

async function index(core: Core): Promise<HttpResponse> {
  const sources = [...documentSources(core)].sort(([a], [b]) => (a < b ? -1 : 1));
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const [name, source] of sources) {
    const document = keep(core, name, source);
    paths[name] = { serverRelativeURL: relativeUrl(`/openapi/v3/${name}`, document) };
    // Making a document takes time: lets other requests run before the next one.
    if (document.inputs === source.inputs) await nextTurn();
  }
  for (const [name, serverRelativeURL] of core.aggregator.documents()) paths[name] = { serverRelativeURL };
  // The aggregator of kube-apiserver does not set a type, and Go detects text.
  return textResponse(200, writeJson({ paths }));
}

interface Asked {
  readonly path: string;
  readonly document: Document;
  readonly hash: string;
}

function serveDocument(core: Core, { path, document, hash }: Asked, request: HttpRequest): HttpResponse {
  if (!acceptsJson(request)) return empty(406, { vary: 'Accept' });
  const headers = { 'content-type': 'application/json', etag: `"${document.hash}"`, vary: 'Accept' };
  if (hash === '') return fromCache(document, headers, request);
  if (hash !== document.hash) {
    return empty(301, { ...headers, location: relativeUrl(path, document) });
  }
  const expires = formatHttpDate(plus(core.clock.now(), hours(365 * 24)));
  return fromCache(document, { ...headers, 'cache-control': 'public, immutable', expires }, request);
}

const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** The first accepted type that is available; undefined when none is. */
function swaggerType({ headers }: HttpRequest): string | undefined {
  const accept = headers['accept'] ?? '';
  if (accept === '') return JSON_TYPE;
  for (const { type } of parseAccept(accept)) {
    if (JSON_TYPES.includes(type)) return JSON_TYPE;
    if (type.replace('@', '.') === SWAGGER_PROTOBUF) return SWAGGER_PROTOBUF;
  }
  return undefined;
}

async function serveSwagger(core: Core, request: HttpRequest): Promise<HttpResponse> {
  const type = swaggerType(request);
  if (type === undefined) return empty(406, { vary: 'Accept' });
  const sources = [...documentSources(core).values()];
  const inputs = sources.flatMap((source) => source.inputs);
  const source = { inputs, make: () => swagger(sources.map((one) => one.make())) };
  const document =
    type === JSON_TYPE
      ? keep(core, '/openapi/v2', source)
      : keep(core, '/openapi/v2.pb', source, swaggerProtobuf);
  const headers = { 'content-type': type, etag: `"${document.hash}"`, vary: 'Accept' };
  return fromCache(document, headers, request);
}

const JSON_TYPES = ['application/json', 'application/*', '*/*'];

// The protobuf form of these documents is not served.
function acceptsJson(request: HttpRequest): boolean {
  const accept = request.headers['accept'] ?? '';
  if (accept === '') return true;
  return parseAccept(accept).some(({ type }) => JSON_TYPES.includes(type));
}

function fromCache(
  document: Document,
  headers: Readonly<Record<string, string>>,
  request: HttpRequest,
): HttpResponse {
  const known = (request.headers['if-none-match'] ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(headers['etag']!) || known.includes('*')) {
    const { 'content-type': _type, ...rest } = headers;
    return empty(304, rest);
  }
  const lastModified = formatHttpDate(document.made);
  return { status: 200, headers: { ...headers, 'last-modified': lastModified }, body: document.body };
}

const empty = (status: number, headers: Readonly<Record<string, string>>): HttpResponse => ({
  status,
  headers,
  body: new Uint8Array(),
});
