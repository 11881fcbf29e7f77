// DELETEs of which nobody knows what became: if the object is gone later, it was us. Unless it was seen alive in a later
// version: a DELETE carries the version it was decided on, so that one was not carried out and never will be.

import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { compareVersions } from '@lapse/kube/api/versions';
import { TransportError } from '@lapse/kube/client/transport';

const isSent = (error: unknown): error is TransportError => error instanceof TransportError && error.sent;

/** The request was sent, and its answer did not arrive. */
export const isUnanswered = (error: unknown): boolean =>
  isSent(error) && (error.failure === 'timeout' || error.failure === 'broken');

/** The request was sent and then aborted: the lease was lost, or the process stops. */
export const isCutOff = (error: unknown): boolean => isSent(error) && error.failure === 'aborted';

/** The server may have carried the request out: no answer arrived, or one of 500 and above. */
export const mayHaveActed = (error: unknown): boolean =>
  isUnanswered(error) || isCutOff(error) || (error instanceof ApiError && error.code >= 500);

export class Unanswered {
  readonly #versions = new Map<string, string | undefined>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add({ metadata: { uid = '', resourceVersion } }: KubeObject): void {
    if (this.#versions.size >= this.#most) this.#versions.delete(this.#versions.keys().next().value!);
    this.#versions.set(uid, resourceVersion);
  }

  /** Whether the end of the object, last seen alive like this, may be such a DELETE's work. Asked once. */
  take({ metadata: { uid = '', resourceVersion } }: KubeObject): boolean {
    const sent = this.#versions.get(uid);
    return this.#versions.delete(uid) && compareVersions(resourceVersion, sent) !== 1;
  }
}
