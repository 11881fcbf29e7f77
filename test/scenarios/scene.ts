// The vocabulary of a scenario: setup, actions and faults, and reads.

import type { Instant, Millis } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { KubeEvent } from '@lapse/runtime/events/build';
import type { Fault, FaultOptions } from '@lapse/simulation/faults';
import type { Matcher, RequestInfo } from '@lapse/simulation/requestInfo';
import type { Simulation } from '@lapse/simulation/simulate';
import type { WatchBreak } from '@lapse/simulation/streams';
import type { Manifests, UserClient } from '@lapse/simulation/userClient';
import type { RequestRecord } from '@lapse/simulation/wire';

export interface Given {
  /** Families by name, or controllers of the test. */
  controllers(...controllers: (string | ControllerDefinition)[]): void;
  configuration(sections: JsonObject): void;
  gates(gates: Readonly<Record<string, boolean>>): void;
  /** By name (`owner-gc`, `*`), or controllers of the test. */
  simulatedControllers(...simulatedControllers: (string | ControllerDefinition)[]): void;
  /** Kinds in addition to those of the families. */
  kinds(...kinds: CustomKind[]): void;
  /** With its status, if it has one. */
  object(manifests: Manifests): Promise<void>;
  seed(seed: number): void;
  /** The second reconcile would write, and should. Give the reason. */
  noDoubleRun(because: string): void;
}

export interface When {
  readonly user: Pick<UserClient, 'apply' | 'create' | 'patch' | 'status' | 'delete'>;
  timePasses(length: Millis): Promise<void>;
  until(predicate: () => boolean | Promise<boolean>, limit: Millis): Promise<Millis>;
  /** Runs when a request of the process is on its way, before the server receives it. */
  justBefore(matcher: Matcher, fn: (request: RequestInfo) => unknown, options?: FaultOptions): void;
  serverAnswers(matcher: Matcher, fault: Fault | number, options?: FaultOptions): void;
  serverIsSlow(delay: Millis): void;
  processRestarts(): Promise<void>;
  /** Kills the process, and starts it again after a while. */
  processCrashes(options?: { downFor?: Millis }): Promise<void>;
  leadershipIsLost(): Promise<void>;
  leadershipReturns(): Promise<void>;
  watchesBreak(how?: WatchBreak): Promise<void>;
  cachesAreStale(): void;
  cachesCatchUp(): Promise<void>;
  /** Sets the clock of the process. */
  clockJumps(by: Millis): Promise<void>;
  /** Sets the clock of the server relative to the true time. */
  serverClockIs(offset: Millis): Promise<void>;
  faultsEnd(): Promise<void>;
}

export interface Then {
  exists(ref: string): Promise<void>;
  isGone(ref: string): Promise<void>;
  /** Deleted, but kept by a finalizer or a grace period. */
  isTerminating(ref: string): Promise<void>;
  object<T extends KubeObject = KubeObject>(ref: string): Promise<T>;
  /** Events about an object, oldest first. */
  events(ref: string): Promise<KubeEvent[]>;
  /** Requests of the process. */
  requests(matcher?: Matcher): RequestRecord[];
  writes(): RequestRecord[];
  timeline(): { toEqual(text: string): void; readonly text: string };
}

export interface Scene {
  readonly given: Given;
  readonly when: When;
  readonly then: Then;
  /** The simulation itself, for anything the helpers above do not cover. */
  simulation(): Promise<Simulation>;
  now(): Instant;
}
