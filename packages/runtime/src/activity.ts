// The work in progress of a process. If all counts are zero, nothing happens until time advances or another client acts.
// A simulation uses this to decide when to advance its clock.

export interface Activity {
  /** Running reconciles. */
  readonly reconciles: number;
  /** Keys that a running worker can take now. */
  readonly ready: number;
  /** Caches with items that are read but not applied. The server counts the events that it has not sent. */
  readonly caches: number;
  /** Requests without a response (streams: without headers). */
  readonly requests: number;
  /** Kubernetes Events that are not sent yet. */
  readonly events: number;
}

export const isIdle = (activity: Activity): boolean => Object.values(activity).every((count) => count === 0);
