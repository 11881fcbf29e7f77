// What is said, and with which code a command ends, when it cannot do what it was asked. A stack is only for what nobody
// foresaw: it is a mistake of ours.

import { ApiError } from '#api/status';
import { ConfigError } from '#client/configFields';
import { TransportError, type TransportFailure } from '#client/transport';
import { UsageError } from './usage.ts';

export interface Failure {
  readonly text: string;
  /** 2: a mistake in the command or in what it names. 1: anything else, such as a cluster that does not answer. */
  readonly code: 1 | 2;
}

export function computeFailure(cause: unknown): Failure {
  if (cause instanceof UsageError || cause instanceof ConfigError) return { text: cause.message, code: 2 };
  const text = describeRefusal(cause);
  if (text !== undefined) return { text, code: 1 };
  const stack = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return {
    text: `unexpected, and a mistake in lapse; please report it with these lines:\n${stack}`,
    code: 1,
  };
}

/** What the cluster did not answer, or did not allow, and what to do next. */
export interface Refusal {
  readonly what: string;
  readonly next?: string;
}

const ANOTHER = 'or use another --context';

/** Undefined for anything else. */
export function computeRefusal(cause: unknown): Refusal | undefined {
  if (cause instanceof TransportError) return { what: cause.message, next: NEXT[cause.failure] };
  if (!(cause instanceof ApiError)) return undefined;
  const { code, message } = cause;
  if (code === 401)
    return {
      what: `the API server does not accept these credentials (${message})`,
      next: `they may have expired: log in again, ${ANOTHER}`,
    };
  if (code === 403) return { what: message, next: `ask for that right, ${ANOTHER}` };
  if (code === 429 || code >= 500)
    return { what: `the API server could not answer (${code}): ${message}`, next: 'try again later' };
  return { what: message };
}

export function describeRefusal(cause: unknown): string | undefined {
  const refusal = computeRefusal(cause);
  return refusal && [refusal.what, ...(refusal.next === undefined ? [] : [refusal.next])].join('; ');
}

const WHICH = 'is it up, and is it the right one? --kubeconfig and --context say which cluster';

const NEXT: Readonly<Record<TransportFailure, string>> = {
  unreachable: WHICH,
  broken: WHICH,
  timeout: WHICH,
  aborted: 'try again',
  malformed: 'is this the address of a Kubernetes API server? --kubeconfig and --context say which cluster',
  unsendable: 'look at the address and the credentials in the kubeconfig',
  credentials: 'log in again, or use another --context',
};
