// One write as admission sees it.

import type { AdmissionRequest } from '@lapse/kube/api/admission';
import type { GroupVersionKind, KubeObject } from '@lapse/kube/api/object';
import type { DeleteOptions } from '../http/query.ts';
import type { Codec } from '../resources/resource.ts';

export interface Write {
  readonly operation: AdmissionRequest['operation'];
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly name: string;
  readonly dryRun: boolean;
  /** The kind of the object, where it differs from the resource (`Eviction`, `Binding`). */
  readonly kind?: Readonly<GroupVersionKind> & { readonly codec: Codec };
  /** The options of a DELETE. */
  readonly deletion?: DeleteOptions;
}
