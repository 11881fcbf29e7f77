// Compresses large GET responses for clients that accept gzip, like kube-apiserver above 128 KiB.

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { gzipStream } from '@lapse/base/gzipStream';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { Relayed } from '../aggregation/relayed.ts';
import { EventStream } from '../watch/eventStream.ts';

const THRESHOLD = 128 * 1024;
const gzipAsync = promisify(gzip);
// Speed over size, as upstream: clients are close.
const OPTIONS = { level: constants.Z_BEST_SPEED };

export async function compressed(request: HttpRequest, response: HttpResponse): Promise<HttpResponse> {
  if (request.method !== 'GET' || response.status !== 200) return response;
  if (!/\bgzip\b/i.test(request.headers['accept-encoding'] ?? '')) return response;
  const { body } = response;
  if (body instanceof Relayed) return response;
  if (body instanceof Uint8Array) {
    if (body.length <= THRESHOLD) return response;
    return withEncoding(response, await gzipAsync(body, OPTIONS));
  }
  // Events must not wait in the buffer of a compressor, so large lists are the only compressed streams.
  return body instanceof EventStream ? response : withEncoding(response, gzipStream(body));
}

function withEncoding(response: HttpResponse, body: HttpResponse['body']): HttpResponse {
  const { vary } = response.headers;
  return {
    ...response,
    headers: {
      ...response.headers,
      'content-encoding': 'gzip',
      vary: vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`,
    },
    body,
  };
}
