// What a group of controllers has to say about itself so that commands can put it together: its name, the kinds it
// brings, its gates, its part of the configuration file, and the controllers and admission functions it is made of.

import type { Clock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { Client } from '@lapse/kube/client/client';
import type { ControllerDefinition, Right } from '@lapse/runtime/definition';
import type { AdmissionFunction } from '@lapse/runtime/host/review';
import type { Registry } from '@lapse/runtime/metrics/registry';
import type { GuardedDeletesOptions } from '#deletion/guardedDelete';
import type { Subject } from '#deletion/rights';
import type { SkewGuard } from '#deletion/skewGuard';
import type { Foresight } from './foresight.ts';
import type { ObjectCheck } from './objectCheck.ts';

/** What controllers are given beside their passes. */
export interface Services {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly log: Log;
  readonly guard: SkewGuard;
  /** For reviews of rights, outside of passes. Passes write through `pass.client`. */
  readonly client: Client;
  /**
   * For writes to kinds that are known only at run time, which no declared right covers: ended with the leadership, as
   * `pass.client` and `impersonate` are. Unset: `client`.
   */
  readonly acting?: Client;
  /** A client that acts as this service account. */
  readonly impersonate: (account: { namespace: string; name: string }) => Client;
  /** Set (`actAs: impersonate-author`): a client that acts as this author. Unset: deletes for authors are sent as Lapse. */
  readonly impersonateAuthor?: (author: Subject) => Client;
  /** Whose rights count where somebody acts for an author. */
  readonly actAs: 'author' | 'controller';
  /** Set: nothing outside this namespace is watched or touched. */
  readonly namespace?: string;
  isEnabled(gate: string): boolean;
  /**
   * What the operator asks of every deletion of a controller (`--max-deletions-per-second`, `--paranoid-reread`). Spread
   * it into the options: `new GuardedDeletes({ clock, guard, metrics, ...services.deletion?.(name) })`.
   */
  deletion?(controller: string): Pick<GuardedDeletesOptions, 'budget' | 'rereadFirst'>;
}

/** A ValidatingAdmissionPolicy, installed with a binding that denies. */
export interface AdmissionPolicy {
  /** Installations prefix it with their own name. */
  readonly name: string;
  readonly spec: JsonObject;
}

export interface Gate {
  readonly name: string;
  readonly default: boolean;
  readonly stage: 'alpha' | 'beta' | 'stable';
  readonly description: string;
  /** Installed while the gate is open. */
  readonly policies?: readonly AdmissionPolicy[];
}

/** A right in one namespace: a Secret of the operator's, say. */
export interface LocalRight extends Right {
  readonly namespace: string;
  /** Only to objects of these names; unset: to all. A verb that knows no name (create, list, …) is not narrowed. */
  readonly names?: readonly string[];
}

export interface Parts {
  readonly controllers: readonly ControllerDefinition[];
  readonly admission: readonly AdmissionFunction[];
  /** What is needed beyond what the controllers declare: for `services.client`, and in one namespace only. */
  readonly rights?: readonly LocalRight[];
  /** What `lapse doctor` checks about each object of a kind. */
  readonly checks?: readonly ObjectCheck[];
}

export interface Family {
  /** As in `--controllers`. */
  readonly name: string;
  readonly description: string;
  /** Storage families are off until asked for, in a cluster. */
  readonly defaultOn: boolean;
  /** Kinds of ours that must be served. */
  readonly kinds: readonly CustomKind[];
  readonly gates: readonly Gate[];
  /** Its sections of the configuration: an OpenAPI v3 schema each, with defaults. */
  readonly configuration: Readonly<Record<string, JsonObject>>;
  /** Environment variables and the field each of them sets: `{ REQUEST_TTL: 'requestTTL.default' }`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Flags of `lapse run` and the field each of them sets, without the dashes: `{ 'job-propagation': … }`. */
  readonly flags?: Readonly<Record<string, { readonly field: string; readonly description: string }>>;
  /** `configuration` has the sections, complete with defaults and valid. */
  create(services: Services, configuration: Readonly<Record<string, JsonObject>>): Parts;
  /** What it can say beforehand, for `lapse plan` and `lapse explain`. */
  readonly foresight?: Foresight;
}
