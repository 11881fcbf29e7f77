// The data of the page: a plan with every repeated name stored once, so that ten thousand deletions stay small.
// Written by ../data.ts, read by the script of the page.

/** Indexes into `kinds` and `namespaces`, the name, and the depth below the deleted object. */
export type DependentRow = readonly [kind: number, namespace: number, name: string, depth: number];

export interface Row {
  /** Epoch milliseconds. null if unknown. */
  readonly at: number | null;
  readonly held?: true;
  /** The object is kept, and its state changes at that time. */
  readonly changes?: true;
  /** Indexes into the lists below. Namespace 0 is "none": a cluster-scoped object. */
  readonly kind: number;
  readonly namespace: number;
  readonly rule: number;
  readonly family: number;
  readonly name: string;
  readonly apiVersion: string;
  readonly because: string;
  readonly propagation?: string;
  readonly dependents?: readonly DependentRow[];
  /** Number of objects that are not named. */
  readonly moreDependents?: number;
}

export interface PageData {
  readonly cluster: string;
  readonly made: number;
  readonly until: number;
  /** Number of deletions beyond `until`. */
  readonly more: number;
  readonly kinds: readonly string[];
  readonly namespaces: readonly string[];
  readonly rules: readonly string[];
  readonly families: readonly string[];
  readonly rows: readonly Row[];
  /** What could not be read, as messages. */
  readonly unread: readonly string[];
}
