// What a robustness round is about: objects that end, and the process that ends them.

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
  /** Made anew for every round. */
  readonly standins?: () => readonly ControllerDefinition[];
  /** What is there before the round begins. */
  readonly objects?: readonly KubeObject[];
  /** An object that ends at this instant; whole seconds. */
  create(name: string, ends: Instant, now: Instant): KubeObject;
  /** The merge patch that moves its end; `spec` or `metadata`, not the status. Unset: nobody can move it. */
  moveEnd?(object: KubeObject, ends: Instant): object;
  /** When an object may end; undefined when nothing asks for it. */
  deadlineOf(object: KubeObject): Instant | undefined;
  /** It has reached its last state. */
  isTerminal(object: KubeObject): boolean;
}
