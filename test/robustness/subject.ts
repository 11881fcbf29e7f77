// The subject of a robustness round: objects that expire, and the process that deletes them.

import type { Instant } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { Compose } from '@lapse/simulation/process';

export interface Subject {
  readonly name: string;
  readonly kind: Kind;
  readonly resource: string;
  readonly compose: Compose;
  readonly kinds?: readonly CustomKind[];
  /** Created for every round. */
  readonly simulatedControllers?: () => readonly ControllerDefinition[];
  /** Objects that exist before the round begins. */
  readonly objects?: readonly KubeObject[];
  /** An object that expires at this instant; whole seconds. */
  create(name: string, ends: Instant, now: Instant): KubeObject;
  /** The merge patch that changes its deadline; `spec` or `metadata`, not the status. Unset: it cannot be changed. */
  moveEnd?(object: KubeObject, ends: Instant): object;
  /** When an object may be deleted; undefined if it does not expire. */
  deadlineOf(object: KubeObject): Instant | undefined;
  /** Objects are saved before they are deleted. Default: false. */
  readonly saves?: boolean;
  /** Whether it is in its final state. */
  isTerminal(object: KubeObject): boolean;
}
