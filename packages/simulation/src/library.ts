// The public exports of the simulator for tests of controllers, published as `lapse/sim`.

export { VIRTUAL_START } from '@lapse/base/virtualClock';
export type { CustomKind } from '@lapse/kube/api/kinds/customKind';
export type { DoubleRun } from './doubleRun.ts';
export type { Fault, FaultOptions, Faults, When } from './faults.ts';
export type { Hands, Manifests } from './hands.ts';
export type { Actor, Change } from './history.ts';
export type { SimulatedReconcile } from './narrator.ts';
export type { SimulationOptions } from './options.ts';
export type { Compose, Composition, Process } from './process.ts';
export type { Matcher, SeenRequest, Verb } from './seen.ts';
export { type Simulation, simulate } from './simulate.ts';
export type { WatchBreak } from './streams.ts';
export { normalize } from './timeline.ts';
export type { RequestRecord } from './wire.ts';
