// The request and response that server and client share. Bodies are bytes in both directions, in process too,
// so that an in-process client exercises the same encoding as one behind a socket.

/**
 * Lower-case names. A list stands for a header that was sent more than once: values may contain commas, so nobody joins
 * or splits them. Of those that are named here the first counts, however often they are sent.
 */
export interface RequestHeaders {
  readonly [name: string]: string | readonly string[] | undefined;
  readonly accept?: string;
  readonly 'accept-encoding'?: string;
  readonly 'audit-id'?: string;
  readonly authorization?: string;
  readonly 'content-type'?: string;
  readonly host?: string;
  readonly 'if-none-match'?: string;
  readonly 'impersonate-uid'?: string;
  readonly 'impersonate-user'?: string;
  readonly 'user-agent'?: string;
}

export interface HttpRequest {
  readonly method: string;
  /** Path and query as on the request line, still percent-encoded: `/api/v1/pods?limit=5`. */
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly body?: Uint8Array;
  /** Aborted when the caller went away; ends streams. */
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; a list stands for repeated header lines (`warning`). */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** All bytes, or a stream of chunks (watches and large lists). */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** A whole server, or a whole connection to one: the only thing client and server have in common. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;
