// The checks of `lapse doctor` for each object of a family. Checks read objects and review rights. They change
// nothing.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { asError } from '@lapse/runtime/outcome';
import { describeNeeds, type Need } from '#authors/accessReview';

/** Returns those of `needs` that Lapse itself may not do. */
export type ReviewNeeds = (needs: readonly Need[]) => Promise<Need[]>;

export interface ObjectProblem {
  /**
   * `problem`: the operator has to act. `warning`: the author of the object has to act. `note`: could not be
   * checked.
   */
  readonly level: 'problem' | 'warning' | 'note';
  readonly message: string;
  readonly hint?: string;
}

export interface ObjectCheck {
  readonly kind: Kind;
  check(object: KubeObject, review: ReviewNeeds): Promise<ObjectProblem[]>;
}

const describeRules = (needs: readonly Need[]): string =>
  [...Map.groupBy(needs, ({ group, resource }) => `apiGroups: ["${group}"], resources: [${resource}]`)]
    .map(([what, some]) => `{${what}, verbs: [${[...new Set(some.map(({ verb }) => verb))].join(', ')}]}`)
    .join(', ');

/** The rights that Lapse itself lacks, and the ClusterRole that grants them. */
const describeLack = (missing: readonly Need[]): { message: string; hint: string } => ({
  message: `Lapse may not ${describeNeeds(missing)}`,
  hint: `create a ClusterRole labelled lapse.dev/aggregate-to-cleaner: "true" with the rules [${describeRules(missing)}]`,
});

export const lackOf = (missing: readonly Need[]): ObjectProblem[] =>
  missing.length === 0 ? [] : [{ level: 'problem', ...describeLack(missing) }];

/** The Secret with the author key may be unreadable or missing. This is reported and does not abort the check. */
export async function checkAuthor(find: () => Promise<string | undefined>): Promise<ObjectProblem[]> {
  try {
    const message = await find();
    return message === undefined ? [] : [{ level: 'warning', message }];
  } catch (error) {
    return [{ level: 'note', message: `its author cannot be verified: ${asError(error).message}` }];
  }
}
