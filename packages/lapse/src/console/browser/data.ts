// What the page carries: a plan with every repeated name told once, so that ten thousand ends stay small. Written by
// ../data.ts, read by the script of the page.

/** An index into `kinds` and `namespaces`, the name, and how many steps below the deleted object. */
export type TakenRow = readonly [kind: number, namespace: number, name: string, depth: number];

export interface Row {
  /** Epoch milliseconds; null when nobody knows. */
  readonly at: number | null;
  readonly held?: true;
  /** It stays; something about it changes then. */
  readonly changes?: true;
  /** Indexes into the lists below. Namespace 0 is "none": the object belongs to the cluster. */
  readonly kind: number;
  readonly namespace: number;
  readonly rule: number;
  readonly family: number;
  readonly name: string;
  readonly apiVersion: string;
  readonly because: string;
  readonly propagation?: string;
  readonly takes?: readonly TakenRow[];
  /** Not named. */
  readonly takesMore?: number;
}

export interface PageData {
  readonly cluster: string;
  readonly made: number;
  readonly until: number;
  /** Ends beyond `until`. */
  readonly more: number;
  readonly kinds: readonly string[];
  readonly namespaces: readonly string[];
  readonly rules: readonly string[];
  readonly families: readonly string[];
  readonly rows: readonly Row[];
  /** What could not be read, in words. */
  readonly unread: readonly string[];
}
