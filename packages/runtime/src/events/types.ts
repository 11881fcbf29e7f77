// What is said about an object, before it becomes an events.k8s.io/v1 Event.

import type { KubeObject } from '@lapse/kube/api/object';

export type Regarded = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** Why, one word in CamelCase: `Deleted`. */
  readonly reason: string;
  /** What was done or tried, one word in CamelCase: `Delete`. */
  readonly action: string;
  /** For people; up to 1,024 bytes are kept. */
  readonly note: string;
  /** Another object involved. */
  readonly related?: Regarded;
}

export interface EventSink {
  /** `by` is the controller that speaks. Never waits, never throws. */
  record(regarding: Regarded, event: EventNote, by: string): void;
}
