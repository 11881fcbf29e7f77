// Encodes objects, lists and errors as responses in the negotiated representation.

import type { HttpResponse } from '@lapse/kube/api/http';
import type { Json } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import { stringify } from 'yaml';
import type { Call } from '../context.ts';
import { checkPartialFits, partialMetadata } from '../representations/partial.ts';
import { tableOf } from '../representations/table.ts';
import type { Stored } from '../store/stored.ts';
import { type Negotiated, plainNegotiation } from './negotiate.ts';

export const JSON_TYPE = 'application/json';

export function jsonResponse(status: number, value: Json | object): HttpResponse {
  return bytesResponse(status, Buffer.from(writeJson(value)), JSON_TYPE);
}

export const bytesResponse = (status: number, body: Uint8Array, type: string): HttpResponse => ({
  status,
  headers: { 'content-type': type },
  body,
});

export const textResponse = (status: number, text: string): HttpResponse =>
  bytesResponse(status, Buffer.from(text), 'text/plain; charset=utf-8');

/** The 404 response of Go's router for an unregistered path. */
export function notFoundPage(): HttpResponse {
  const page = textResponse(404, '404 page not found\n');
  return { ...page, headers: { ...page.headers, 'x-content-type-options': 'nosniff' } };
}

/** An error response, in YAML for clients that accept only YAML. */
export const errorResponse = (error: ApiError, accept?: string): HttpResponse => {
  const retry = error.status.details?.retryAfterSeconds;
  const response = encode(error.code, error.status, plainNegotiation(accept));
  return retry ? { ...response, headers: { ...response.headers, 'retry-after': String(retry) } } : response;
};

// Quotes text that YAML 1.1 would read as another type (times, yes, on), sorts keys, and does not fold lines.
const YAML_LIKE_GO = {
  version: '1.1',
  lineWidth: 0,
  sortMapEntries: true,
  aliasDuplicateObjects: false,
} as const;

export const yamlText = (value: Json | object): string => stringify(value, YAML_LIKE_GO);

/** Encodes any JSON document in the negotiated encoding. */
export function encode(status: number, value: Json | object, negotiated: Negotiated): HttpResponse {
  if (negotiated.encoding === 'json') return jsonResponse(status, value);
  return bytesResponse(status, Buffer.from(yamlText(value)), 'application/yaml');
}

/** An object of the requested resource, in the negotiated representation. */
export function objectResponse(call: Call, status: number, object: KubeObject): HttpResponse {
  const { representation } = call.negotiated;
  switch (representation.as) {
    case 'object':
      return encode(status, object, call.negotiated);
    case 'PartialObjectMetadata':
      checkPartialFits(call.resource, representation, false);
      return encode(status, partialMetadata(object, representation.version), call.negotiated);
    case 'Table':
      return encode(
        status,
        tableOf(call, [object], {
          version: representation.version,
          meta: { resourceVersion: object.metadata.resourceVersion ?? '' },
        }),
        call.negotiated,
      );
  }
}

/** A stored object. Sends the stored bytes when they match the negotiated representation. */
export function storedResponse(call: Call, status: number, stored: Stored): HttpResponse {
  const { codec } = call.resource;
  const plain = call.negotiated.representation.as === 'object' && call.negotiated.encoding === 'json';
  if (plain && codec.verbatim(stored)) return bytesResponse(status, stored.bytes, JSON_TYPE);
  return objectResponse(call, status, codec.show(stored));
}
