// The public exports of the simulator for tests of controllers, published as `lapse/sim`.

export { VIRTUAL_START } from '@lapse/base/virtualClock';
export type { CustomKind } from '@lapse/kube/api/kinds/customKind';
export type { DoubleRun } from './doubleRun.ts';
export type { Fault, FaultOptions, Faults, When } from './faults.ts';
export type { Change } from './history.ts';
export type { SimulationOptions } from './options.ts';
export type { Compose, Composition, Process } from './process.ts';
export type { Matcher, RequestInfo, Verb } from './requestInfo.ts';
export { type Simulation, simulate } from './simulate.ts';
export type { WatchBreak } from './streams.ts';
export { normalize } from './timeline.ts';
export type { SimulatedReconcile } from './timelineWriter.ts';
export type { Manifests, UserClient } from './userClient.ts';
export type { RequestRecord } from './wire.ts';
export type { Actor } from './writers.ts';
