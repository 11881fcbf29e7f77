// The content of an Event before it is built as events.k8s.io/v1.

import type { KubeObject } from '@lapse/kube/api/object';

export type RegardingObject = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase: `Deleted`. */
  readonly reason: string;
  /** The attempted action, one word in CamelCase: `Delete`. */
  readonly action: string;
  /** Human-readable; truncated to 1,024 bytes. */
  readonly note: string;
  /** Another object that is involved. */
  readonly related?: RegardingObject;
}

export interface EventSink {
  /** `by` is the reporting controller. Never blocks, never throws. */
  record(regarding: RegardingObject, event: EventNote, by: string): void;
}
