// The options, the sink and the status of a reflector.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { Liveness } from './liveness.ts';
import type { ProblemKind } from './reflectorSteps.ts';
import type { Source } from './source.ts';

/** Receives the objects of the server. */
export interface Sink<T> {
  /** A list starts. Objects that are not in it are removed when it ends. */
  listBegins(): void;
  listItem(object: T): void;
  listEnds(version: string): void;
  changed(object: T): void;
  /** May also be called during a list. */
  removed(object: T): void;
  /** Everything before this version was delivered. The change with this version, if any, follows immediately. */
  reached(version: string): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<Client, 'watch' | 'pages'>;
  readonly source: Source<T>;
  readonly sink: Sink<T>;
  readonly clock: Clock;
  readonly random: Random;
  /** Unset: dead connections are not detected. */
  readonly liveness?: Liveness;
  /** Default: a streaming list first. */
  readonly listBy?: 'stream' | 'pages';
  /** False: no bookmarks while watching, for simulations in which each wake-up has a cost. Default: true. */
  readonly bookmarks?: boolean;
  /** Called when the status may have changed. */
  readonly onStatus?: (status: ReflectorStatus) => void;
}

export interface Problem {
  readonly kind: ProblemKind;
  readonly verb: 'list' | 'watch';
  readonly error: Error;
  readonly since: Instant;
}

export interface ReflectorStatus {
  readonly state: 'empty' | 'listing' | 'watching';
  /** The current failure; unset without a failure. */
  readonly problem?: Problem;
}
