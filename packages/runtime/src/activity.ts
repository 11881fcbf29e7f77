// What a process has in hand. When all of it is zero, nothing will happen before time passes or somebody else acts:
// that is how a simulation knows, rather than guesses, that it may let time go on.

export interface Activity {
  /** Passes under way. */
  readonly passes: number;
  /** Keys that a running worker could take. */
  readonly ready: number;
  /** Caches that have read items in hand. What the server has not sent yet is the server's to count. */
  readonly caches: number;
  /** Requests that have no answer yet (streams: no headers). */
  readonly requests: number;
  /** Events about objects that are not sent yet. */
  readonly events: number;
}

export const isIdle = (activity: Activity): boolean => Object.values(activity).every((count) => count === 0);
