// How objects become rows of a table.

import type { Json } from '#api/json';
import type { KubeObject } from '#api/object';
import type { Instant } from '#base/instant';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 only in wide output. */
  readonly priority: number;
}

export interface TablePrinter {
  readonly columns: readonly Column[];
  cells(object: KubeObject, now: Instant): Json[];
}
