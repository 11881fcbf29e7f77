// An aggregated API: its group, its resources, and the calls that they answer.

import type { HttpRequest } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import type { ResourceRequest, Verb } from './path.ts';
import type { User } from './requestHeader.ts';

export interface AggregatedCall extends Omit<ResourceRequest, 'kind'> {
  readonly user: User;
  readonly query: URLSearchParams;
  readonly headers: HttpRequest['headers'];
  readonly body?: Uint8Array;
  /** Aborted when the caller disconnects. */
  readonly signal?: AbortSignal;
}

/** An object, or a stream of bytes. Errors are thrown as ApiError. */
export type AggregatedResponse =
  | { readonly object: JsonObject; readonly status?: number }
  | {
      readonly contentType: string;
      readonly body: AsyncIterable<Uint8Array> | Uint8Array;
      readonly headers?: Readonly<Record<string, string>>;
      /** Compress the stream if the client accepts gzip. Do not set it for streams that must arrive incrementally. */
      readonly compressible?: boolean;
    };

export interface AggregatedResource {
  /** The plural name. */
  readonly resource: string;
  readonly subresource?: string;
  readonly kind: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  answer(call: AggregatedCall): Promise<AggregatedResponse> | AggregatedResponse;
}

export interface AggregatedApi {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly AggregatedResource[];
}
