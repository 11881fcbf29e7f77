// Remembers DELETEs without a response. If the object is gone later, this process deleted it, unless the object was seen
// in a later version: the DELETE carries a resourceVersion precondition, so it failed and can no longer take effect.

import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { compareVersions } from '@lapse/kube/api/versions';
import { TransportError } from '@lapse/kube/client/transport';

const isSent = (error: unknown): error is TransportError => error instanceof TransportError && error.sent;

/** The request was sent, but no response arrived. */
export const isUnanswered = (error: unknown): boolean =>
  isSent(error) && (error.failure === 'timeout' || error.failure === 'broken');

/** The request was sent and then aborted: the lease was lost, or the process stops. */
export const isCutOff = (error: unknown): boolean => isSent(error) && error.failure === 'aborted';

/** The request may have taken effect: no response arrived, or a response with code 500 or above. */
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

  /** Whether an unanswered DELETE may have deleted the object. `resourceVersion`: as last seen. Removes the record. */
  take({ metadata: { uid = '', resourceVersion } }: KubeObject): boolean {
    const sent = this.#versions.get(uid);
    return this.#versions.delete(uid) && compareVersions(resourceVersion, sent) !== 1;
  }
}
