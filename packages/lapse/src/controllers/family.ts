// The interface of a family of controllers, from which commands assemble a manager: its name, kinds, feature gates,
// sections of the configuration file, controllers and admission functions.

import type { Clock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { Client } from '@lapse/kube/client/client';
import type { ControllerDefinition, Right } from '@lapse/runtime/definition';
import type { AdmissionFunction } from '@lapse/runtime/host/review';
import type { Registry } from '@lapse/runtime/metrics/registry';
import type { Subject } from '#authors/accessReview';
import type { GuardedDeletesOptions } from '#deletion/guardedDelete';
import type { SkewGuard } from '#deletion/skewGuard';
import type { Forecaster } from './forecaster.ts';
import type { ObjectCheck } from './objectCheck.ts';

/** What controllers receive besides their reconcile argument. */
export interface Services {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly log: Log;
  readonly guard: SkewGuard;
  /** For access reviews outside of reconciles. Reconciles write through `ctx.client`. */
  readonly client: Client;
  /**
   * For writes to kinds that are known only at run time, which no declared right covers. Aborted when leadership is
   * lost, like `ctx.client` and `impersonate`. Default: `client`.
   */
  readonly acting?: Client;
  /** A client that acts as this service account. */
  readonly impersonate: (account: { namespace: string; name: string }) => Client;
  /** Set (`actAs: impersonate-author`): a client that acts as this author. Unset: deletes for authors are sent as Lapse. */
  readonly impersonateAuthor?: (author: Subject) => Client;
  /** Whose rights count when a controller acts for an author. */
  readonly actAs: 'author' | 'controller';
  /** If set, nothing outside this namespace is watched or changed. */
  readonly namespace?: string;
  isEnabled(gate: string): boolean;
  /** The rights of a family that saves what it deletes. Unset: nothing is saved. */
  readonly trashRights?: readonly LocalRight[];
  /**
   * The operator's options for every deletion of a controller (`--max-deletions-per-second`, `--paranoid-reread`).
   * Spread it into the options: `new Expirer({ clock, guard, metrics, ...services.deletion?.(name) })`.
   */
  deletion?(controller: string): Pick<GuardedDeletesOptions, 'budget' | 'rereadFirst' | 'trash'>;
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

/** A right in one namespace, for example to a Secret of the operator. */
export interface LocalRight extends Right {
  readonly namespace: string;
  /**
   * Restricts the right to objects of these names. Default: all. Verbs without a name (create, list, …) are not
   * restricted.
   */
  readonly names?: readonly string[];
}

export interface Parts {
  readonly controllers: readonly ControllerDefinition[];
  readonly admission: readonly AdmissionFunction[];
  /** Rights beyond those that the controllers declare: for `services.client`, and in one namespace only. */
  readonly rights?: readonly LocalRight[];
  /** What `lapse doctor` checks about each object of a kind. */
  readonly checks?: readonly ObjectCheck[];
}

export interface Family {
  /** The name in `--controllers`. */
  readonly name: string;
  readonly description: string;
  /** Storage families are disabled by default in a cluster. */
  readonly defaultOn: boolean;
  /** Whether its deletions are saved in the trash. `jobs`: only with `trash.jobs`. Default: never. */
  readonly saves?: 'always' | 'jobs';
  /** CustomResourceDefinitions of Lapse that must be served. */
  readonly kinds: readonly CustomKind[];
  readonly gates: readonly Gate[];
  /** Its sections of the configuration: an OpenAPI v3 schema each, with defaults. */
  readonly configuration: Readonly<Record<string, JsonObject>>;
  /** Environment variables and the field each of them sets: `{ REQUEST_TTL: 'requestTTL.default' }`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Flags of `lapse run` and the field each of them sets, without the dashes: `{ 'job-propagation': … }`. */
  readonly flags?: Readonly<Record<string, { readonly field: string; readonly description: string }>>;
  /** `configuration` contains the family's sections, valid and with defaults applied. */
  create(services: Services, configuration: Readonly<Record<string, JsonObject>>): Parts;
  /** The forecast of the family, for `lapse plan` and `lapse explain`. */
  readonly forecaster?: Forecaster;
}
