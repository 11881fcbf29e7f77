// The public exports of the runtime for authors of controllers, published as `lapse/runtime`.

export {
  formatTime,
  hours,
  type Instant,
  instant,
  isDue,
  type Millis,
  millis,
  minus,
  minutes,
  parseTime,
  plus,
  seconds,
} from '@lapse/base/instant';
export {
  defineKind,
  type Kind,
  keyOf,
  metadataOf,
  type ObjectKey,
  type ObjectOf,
} from '@lapse/kube/api/kind';
export * from '@lapse/kube/api/kinds/builtin';
export type { KubeObject, ObjectMeta, OwnerReference } from '@lapse/kube/api/object';
export { type Client, objectOf } from '@lapse/kube/client/client';
export {
  type ControllerDefinition,
  type DynamicDefinition,
  defineController,
  type Right,
  type WatchDefinition,
} from './definition.ts';
export type { Facts } from './facts.ts';
export type { AdmissionFunction, AdmissionRequest, AdmissionResponse } from './host/review.ts';
export { again, failed, type Outcome, settled, terminal, waitUntil } from './outcome.ts';
export type { KindReader, ReconcileContext } from './reconcileContext.ts';
export { type Projection, type Source, whole } from './source.ts';
