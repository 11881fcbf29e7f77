// Maps the error codes of undici and Node to the failures that a caller can act on.

import { TransportError, type TransportFailure } from './transport.ts';

const FAILURES: Readonly<Record<string, TransportFailure>> = {
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'malformed',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'malformed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'broken',
  UND_ERR_INVALID_ARG: 'unsendable',
};

const codeOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
};

function failureOf(error: unknown, sent: boolean): TransportFailure {
  const code = codeOf(error);
  if (Object.hasOwn(FAILURES, code)) return FAILURES[code]!;
  if (error instanceof Error && error.name === 'HTTPParserError') return 'malformed';
  return sent ? 'broken' : 'unreachable';
}

/** Several addresses fail with one AggregateError without a message. Use the message of the first failure. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0)
    return textOf(error.errors[0]);
  if (error instanceof Error) return error.message === '' ? codeOf(error) || error.name : error.message;
  return String(error);
}

const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
]);

/** For callers that do not know whether sending had started. */
export const neverConnected = (error: unknown): boolean => NO_CONNECTION.has(codeOf(error));

/** `sent`: whether sending had started when the request failed. */
export function fromUndici(error: unknown, target: string, sent: boolean): TransportError {
  if (error instanceof TransportError) return error;
  const failure = failureOf(error, sent);
  const verb = sent ? 'failed' : 'could not be sent';
  return new TransportError(failure, `request to ${target} ${verb}: ${textOf(error)}`, {
    sent,
    cause: error,
  });
}
