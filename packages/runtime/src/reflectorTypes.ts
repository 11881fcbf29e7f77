// What a reflector needs, whom it feeds, and what it says about itself.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { Liveness } from './liveness.ts';
import type { ProblemKind } from './reflectorSteps.ts';
import type { Source } from './source.ts';

/** Receives what the server has. */
export interface Sink<T> {
  /** A list begins; what it does not mention is gone when it ends. */
  listBegins(): void;
  listItem(object: T): void;
  listEnds(version: string): void;
  changed(object: T): void;
  /** Also during a list. */
  removed(object: T): void;
  /** Everything before this version has been handed over; the change of this version, if it is one, follows at once. */
  reached(version: string): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<Client, 'watch' | 'pages'>;
  readonly source: Source<T>;
  readonly sink: Sink<T>;
  readonly clock: Clock;
  readonly random: Random;
  /** Unset: the transport is trusted to end. */
  readonly liveness?: Liveness;
  /** Unset: a streaming list is tried first. */
  readonly listBy?: 'stream' | 'pages';
  /** False: no bookmarks while watching, for simulations in which every minute costs. On unless told. */
  readonly bookmarks?: boolean;
  /** Where it stands changed. */
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
  /** What keeps it from going on; unset while all is well. */
  readonly problem?: Problem;
}
