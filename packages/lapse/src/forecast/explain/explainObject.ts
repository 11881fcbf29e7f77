// The complete explanation of one object: the result, the decisions of other rules, disabled rules, dependents, and
// next steps.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { Cascade } from '../cascade/cascade.ts';
import { readOwnership } from '../cascade/read.ts';
import { namingAmong } from '../resolveKind.ts';
import { createSnapshot } from '../snapshot.ts';
import { adviseOn } from './advice.ts';
import { askDisabledRules, readingOnce } from './decisions.ts';
import { findEffects } from './effects.ts';
import { findPolicyFor } from './endable.ts';
import { type Explaining, type Found, foreignFinalizers, judge } from './explain.ts';
import type { Explanation, Opinion, Verdict } from './explanation.ts';

export interface ExplainOptions extends Omit<Explaining, 'onUnread'> {
  /** Also compute what the garbage collector deletes with it. Reads the metadata of everything around the object. */
  readonly cascade: boolean;
}

export async function explainObject(
  options: ExplainOptions,
  kind: ServedKind,
  found: KubeObject,
): Promise<Explanation> {
  const unread = new Set<string>();
  const explaining: Explaining = {
    ...options,
    read: readingOnce(options.read),
    onUnread: (what) => void unread.add(what),
  };
  const plain = plainKind(kind);
  const judged = await judge(explaining, plain, found);
  const { object, verdict, opinions, keeper } = judged;
  const { now, served } = options;
  const isUnruled = verdict.kind === 'unruled';
  const off = await askDisabledRules(explaining, object, opinions);
  const deeds = await findEffects(explaining, object);
  const policy = isUnruled ? await findPolicyFor(explaining, kind, object.name) : undefined;
  const takes = options.cascade ? await findTakes(explaining, judged, kind) : undefined;
  return {
    object,
    now,
    verdict,
    // Every rule reports that it is terminating, so the others are omitted.
    also: verdict.kind === 'lingers' ? [] : opinions.filter((decision) => decision !== deciding(verdict)),
    off,
    ...(keeper === undefined ? {} : { keeper }),
    finalizers: foreignFinalizers(found.metadata.finalizers),
    ...(deeds === undefined ? {} : { deeds }),
    ...(takes === undefined ? {} : { takes }),
    next: adviseOn({ object, kind, verdict, off, now, policy, naming: namingAmong(served) }),
    unread: [...unread],
  };
}

const plainKind = ({ group, version, kind, resource, namespaced }: ServedKind): Kind => ({
  group,
  version,
  kind,
  resource,
  namespaced,
});

const deciding = (verdict: Verdict): Opinion | undefined => ('by' in verdict ? verdict.by : undefined);

async function findTakes(
  { served, read, now, onUnread }: Explaining,
  { object, verdict }: Found,
  { namespaced }: ServedKind,
): Promise<Explanation['takes']> {
  const isNamespace = object.apiVersion === 'v1' && object.kind === 'Namespace';
  const ownership = await readOwnership({
    snapshot: createSnapshot(served, read),
    // Dependents of a namespaced object are in the same namespace.
    ...(namespaced && object.namespace !== undefined ? { namespace: object.namespace } : {}),
    endingNamespaces: new Set(isNamespace ? [object.name] : []),
    onUnread,
  });
  const propagation = verdict.kind === 'ends' ? (verdict.by.propagation ?? 'Background') : 'Background';
  const { takes: named, takesMore: more } = new Cascade(ownership).delete({ object, at: now, propagation });
  return { named, more };
}
