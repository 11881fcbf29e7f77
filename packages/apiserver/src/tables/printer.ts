// Types for the conversion of objects to table rows.

import type { Instant } from '@lapse/base/instant';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';

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
  /** One value per column. The object may be empty: bookmarks are rows too. */
  cells(object: KubeObject, now: Instant): Json[];
  /** Only a name and a time: kube-apiserver answers an empty list of these with null. */
  readonly bare?: true;
  /** Conditions of the row (finished Pods); absent for nearly all kinds. */
  conditions?(object: KubeObject): JsonObject[] | undefined;
}

/** The cells of one kind, in the order of its columns. */
export type Cells = (object: KubeObject, now: Instant) => Json[];
