// The face of the domain kernel: deleting on time and safely, imported by controllers of other people as
// `lapse/lifecycle`.

export { type Deletion, outcomeOf } from './deletion.ts';
export { type DeletionMetrics, deletionMetrics } from './deletionMetrics.ts';
export { type Decision, type DeletionTarget, GuardedDeletes } from './guardedDelete.ts';
