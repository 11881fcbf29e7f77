// What the evaluation of rules for one object needs.

import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Setting } from '../forecast.ts';
import type { Read } from '../snapshot.ts';

export interface RuleContext extends Omit<Setting, 'snapshot'> {
  readonly served: readonly ServedKind[];
  readonly read: Read;
  readonly onUnread: (what: string) => void;
}
