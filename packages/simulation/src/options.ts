// The options of a simulation.

import type { Instant } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { Change } from './history.ts';
import type { Compose } from './process.ts';
import type { Simulation } from './simulate.ts';
import type { RequestRecord } from './wire.ts';

export interface SimulationOptions {
  /** Creates the controllers of the process under test. Called at every start of the process. */
  readonly compose?: Compose;
  /** Kinds that are served from the start. */
  readonly kinds?: readonly CustomKind[];
  /** Simulated controllers, with their own manager and a connection without faults. */
  readonly simulatedControllers?: readonly ControllerDefinition[];
  readonly seed?: number;
  readonly start?: Instant;
  /** Fills the cluster before any controller starts. Admission functions are already active. */
  readonly prepare?: (simulation: Simulation) => Promise<void>;
  /** Called for every request of the process, in the async context of the caller. */
  readonly onRequest?: (record: RequestRecord) => void;
  /** Called for every change that the server accepted. */
  readonly onChange?: (change: Change) => void;
  /** The log of the process under test. */
  readonly log?: Log;
}
