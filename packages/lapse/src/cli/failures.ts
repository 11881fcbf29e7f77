// The message and exit code of a failed command. A stack is printed only for unexpected errors, which are bugs.

import { ApiError } from '@lapse/kube/api/status';
import { ConfigError } from '@lapse/kube/client/configFields';
import { TransportError, type TransportFailure } from '@lapse/kube/client/transport';
import { firstLine, UsageError } from '#manager/usage';

export interface Failure {
  readonly text: string;
  /**
   * 2: a usage error, or an error in a named file or object. 1: any other failure, such as a cluster that does not
   * respond.
   */
  readonly code: 1 | 2;
}

export function computeFailure(cause: unknown): Failure {
  if (cause instanceof UsageError) return { text: cause.message, code: 2 };
  if (cause instanceof ConfigError) return { text: firstLine(cause.message), code: 2 };
  const text = describeRefusal(cause);
  if (text !== undefined) return { text, code: 1 };
  const stack = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return {
    text: `unexpected error, a bug in lapse; please report it with these lines:\n${stack}`,
    code: 1,
  };
}

/** What the cluster did not answer or denied, and what to do next. */
export interface Refusal {
  readonly what: string;
  readonly next?: string;
}

const ANOTHER = 'or use another --context';

/** Undefined for all other errors. */
export function computeRefusal(cause: unknown): Refusal | undefined {
  if (cause instanceof TransportError) return computeUnanswered(cause);
  if (!(cause instanceof ApiError)) return undefined;
  const { code } = cause;
  const isOfKubernetes = !cause.status.details?.causes?.some(({ reason }) => reason === NOT_OF_KUBERNETES);
  const message = isOfKubernetes ? cause.message : withoutPage(cause.message);
  if (code === 401)
    return {
      what: `the API server rejects the credentials (${message})`,
      next: `they may have expired: log in again, ${ANOTHER}`,
    };
  if (code === 403) return { what: message, next: `request this permission, ${ANOTHER}` };
  if (code === 429 || code >= 500)
    return { what: `the API server failed (${code}): ${message}`, next: 'try again later' };
  return { what: message, ...(isOfKubernetes ? {} : { next: NEXT.malformed }) };
}

/** The reason that the client sets for responses that are not a Status. */
const NOT_OF_KUBERNETES = 'UnexpectedServerResponse';

/** Proxies and other servers respond with an HTML page. */
const withoutPage = (message: string): string => message.replace(/:\s*<[\s\S]*$/, '').split('\n')[0]!;

/** Advice of Node.js that does not apply to users of Lapse. */
const TO_OTHERS = /; if the root CA is installed locally.*$/s;
const CERTIFICATE = /certificate|altname/i;

function computeUnanswered({ message, failure }: TransportError): Refusal {
  const what = failure === 'malformed' ? withoutPage(message) : message.replace(TO_OTHERS, '');
  return { what, next: failure === 'unreachable' && CERTIFICATE.test(what) ? UNTRUSTED : NEXT[failure] };
}

const UNTRUSTED =
  'the certificate of the server is not signed by certificate-authority of the kubeconfig: get a new kubeconfig, or use another --context';

export function describeRefusal(cause: unknown): string | undefined {
  const refusal = computeRefusal(cause);
  return refusal && [refusal.what, ...(refusal.next === undefined ? [] : [refusal.next])].join('; ');
}

const WHICH = 'check that the API server is running, and --kubeconfig and --context';

const NEXT: Readonly<Record<TransportFailure, string>> = {
  unreachable: WHICH,
  broken: WHICH,
  timeout: WHICH,
  aborted: 'try again',
  malformed: 'check that this is the address of a Kubernetes API server, and --kubeconfig and --context',
  unsendable: 'check the address and the credentials in the kubeconfig',
  credentials: 'log in again, or use another --context',
};
