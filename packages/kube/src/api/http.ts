// The request and response types shared by server and client. Bodies are always bytes, also in process, so that an
// in-process client exercises the same encoding as a client on a socket.

/**
 * Lower-case names. A list holds the values of a header that was sent more than once; values may contain commas, so
 * they are never joined or split. For the headers named here, only the first value counts.
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
  /** Path and query as on the request line, percent-encoded: `/api/v1/pods?limit=5`. */
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly body?: Uint8Array;
  /** Aborted when the client disconnects. Ends streams. */
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. A list holds the values of a repeated header (`warning`). */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** All bytes, or a stream of chunks (watches and large lists). */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** A complete server, or a connection to one. This is the only interface that client and server share. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;
