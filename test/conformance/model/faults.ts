// Servers with one fault each, to show that the model would detect it.

import type { HttpRequest } from '@lapse/kube/api/http';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '../replay/exchange.ts';
import type { Target } from '../replay/types.ts';

export type Fault = (target: Target) => Target;

const isWatch = ({ path }: HttpRequest) => /[?&]watch=/.test(path);

const onRequest =
  (change: (request: HttpRequest) => HttpRequest): Fault =>
  (target) => ({ ...target, request: (request) => target.request(change(request)) });

const withBody = (request: HttpRequest, change: (body: JsonObject) => void): HttpRequest => {
  const body = parseJson(Buffer.from(request.body ?? []).toString(), null);
  if (!isObject(body)) return request;
  change(body);
  const bytes = Buffer.from(JSON.stringify(body));
  return { ...request, body: bytes, headers: { ...request.headers, 'content-length': String(bytes.length) } };
};

const dropMetadata = (method: string, key: string) =>
  onRequest((request) =>
    request.method !== method
      ? request
      : withBody(request, (body) => {
          if (isObject(body.metadata)) delete body.metadata[key];
        }),
  );

const withoutQuery = (name: string, when: (request: HttpRequest) => boolean) =>
  onRequest((request) =>
    when(request)
      ? { ...request, path: request.path.replace(new RegExp(`([?&])${name}=[^&]*`), '$1') }
      : request,
  );

/** Changes the lines of every watch. */
const onWatch =
  (change: (line: string, index: number) => string[]): Fault =>
  (target) => ({
    ...target,
    request: async (request) => {
      const response = await target.request(request);
      if (!isWatch(request) || response.body instanceof Uint8Array) return response;
      return { ...response, body: changedLines(response.body, change) };
    },
  });

async function* changedLines(
  body: AsyncIterable<Uint8Array>,
  change: (line: string, index: number) => string[],
): AsyncIterable<Uint8Array> {
  let rest = '';
  let index = 0;
  for await (const chunk of body) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n');
    rest = lines.pop()!;
    for (const line of lines) for (const out of change(line, index++)) yield Buffer.from(`${out}\n`);
  }
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'ignores preconditions of DELETE': onRequest((request) =>
    request.method === 'DELETE' ? withBody(request, (body) => delete body.preconditions) : request,
  ),
  'ignores the resourceVersion of PUT': dropMetadata('PUT', 'resourceVersion'),
  'ignores the uid of PUT': dropMetadata('PUT', 'uid'),
  'forgets finalizers': dropMetadata('POST', 'finalizers'),
  'ignores label selectors in lists': withoutQuery('labelSelector', (r) => r.method === 'GET' && !isWatch(r)),
  'ignores label selectors in watches': withoutQuery('labelSelector', isWatch),
  'ignores label selectors when it deletes a collection': withoutQuery(
    'labelSelector',
    (r) => r.method === 'DELETE',
  ),
  'starts pages again from the front': withoutQuery('continue', (r) => r.method === 'GET'),
  'resumes watches from now': withoutQuery('resourceVersion', isWatch),
  'loses a watch event': onWatch((line, i) => (i === 1 ? [] : [line])),
  'repeats a watch event': onWatch((line, i) => (i === 1 ? [line, line] : [line])),
  'calls a modification an addition': onWatch((line) => [line.replace('"MODIFIED"', '"ADDED"')]),
};
