// What a simulated cluster is made of, and who is told of what happens in it.

import type { Instant } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { Change } from './history.ts';
import type { Compose } from './process.ts';
import type { Simulation } from './simulate.ts';
import type { RequestRecord } from './wire.ts';

export interface SimulationOptions {
  /** Puts the process under test together; called again for every start of it. */
  readonly compose?: Compose;
  /** Kinds that are served from the start. */
  readonly kinds?: readonly CustomKind[];
  /** They have a manager and a connection of their own, without faults. */
  readonly standins?: readonly ControllerDefinition[];
  readonly seed?: number;
  readonly start?: Instant;
  /** Furnishes the world before anybody acts in it; admission is in force already. */
  readonly prepare?: (simulation: Simulation) => Promise<void>;
  /** Hears of every request of the process as it is made, in the context of whoever makes it. */
  readonly onRequest?: (record: RequestRecord) => void;
  /** Hears of everything the server accepted, as it happens. */
  readonly onChange?: (change: Change) => void;
  /** Of the process under test. */
  readonly log?: Log;
}
