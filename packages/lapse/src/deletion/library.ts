// The public exports of `lapse/lifecycle`: safe deletion at a deadline, for controllers outside of this repository.

export { type Deletion, outcomeOf } from './deletion.ts';
export { type Decision, type DeletionTarget, GuardedDeletes } from './guardedDelete.ts';
export { type DeletionMetrics, deletionMetrics } from './metrics.ts';
