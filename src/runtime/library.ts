// The face of the runtime: what somebody who writes a controller imports, as `lapse/runtime`.

export { defineKind, type Kind, keyOf, metadataOf, type ObjectKey, type ObjectOf } from '#api/kind';
export * from '#api/kinds/builtin';
export type { KubeObject, ObjectMeta, OwnerReference } from '#api/object';
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
} from '#base/instant';
export { type Client, objectOf } from '#client/client';
export {
  type ControllerDefinition,
  type DynamicDefinition,
  defineController,
  type Right,
  type WatchDefinition,
} from './definition.ts';
export type { Facts } from './facts.ts';
export type { AdmissionAnswer, AdmissionFunction, AdmissionRequest } from './host/review.ts';
export { again, failed, type Outcome, settled, terminal, waitUntil } from './outcome.ts';
export type { KindReader, Pass } from './pass.ts';
export { type Projection, type Source, whole } from './source.ts';
