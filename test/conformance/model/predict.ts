// The answer of a correct server to a write, and the resulting object. Pure.

import { assertNever } from '@lapse/base/assertNever';
import type { Demand, Operation } from './operations.ts';
import { type Content, type Item, sameContent, type World } from './world.ts';

/** Rules in which kinds differ. */
export interface KindRules {
  /** PUT without a resourceVersion overwrites; otherwise it is refused with 422. */
  readonly overwritesBlindly: boolean;
  /** Strategic merge patches exist; otherwise they are refused with 415. */
  readonly strategic: boolean;
}

export type Prediction =
  | { readonly status: number; readonly effect: 'none' }
  | { readonly status: number; readonly effect: 'stored'; readonly name: string; readonly content: Content }
  | { readonly status: number; readonly effect: 'terminating'; readonly name: string }
  | { readonly status: number; readonly effect: 'removed'; readonly name: string };

export type Write = Extract<
  Operation,
  { kind: 'create' | 'put' | 'merge' | 'strategic' | 'json' | 'delete' }
>;

const refused = (status: number): Prediction => ({ status, effect: 'none' });

export function predict(world: World, write: Write, rules: KindRules): Prediction {
  const item = world.items.get(write.name);
  if (write.kind === 'create') {
    return item ? refused(409) : { status: 201, effect: 'stored', name: write.name, content: write.content };
  }
  // The type of a patch is checked before the object.
  if (write.kind === 'strategic' && !rules.strategic) return refused(415);
  if (item === undefined) return refused(404);
  return predictOn(item, write, rules);
}

function predictOn(item: Item, write: Exclude<Write, { kind: 'create' }>, rules: KindRules): Prediction {
  switch (write.kind) {
    case 'put':
      return predictPut(item, write, rules);
    case 'merge':
      if (write.version === 'wrong') return refused(409);
      return updated(item, mergedContent(item, write));
    case 'strategic':
      return updated(item, { ...contentOf(item), tier: write.tier ?? undefined });
    case 'json':
      return item.payload === write.from
        ? updated(item, { ...contentOf(item), payload: write.to })
        : refused(422);
    case 'delete':
      return predictDelete(item, write);
    default:
      return assertNever(write);
  }
}

function predictPut(item: Item, put: Extract<Write, { kind: 'put' }>, rules: KindRules): Prediction {
  if (put.version === 'none' && !rules.overwritesBlindly) return refused(put.uid === 'wrong' ? 409 : 422);
  if (put.version === 'wrong' || put.uid === 'wrong') return refused(409);
  return updated(item, put.content);
}

function mergedContent(item: Item, merge: Extract<Write, { kind: 'merge' }>): Content {
  return {
    tier: merge.tier === undefined ? item.tier : (merge.tier ?? undefined),
    payload: merge.payload ?? item.payload,
    finalizers: merge.finalizers ?? item.finalizers,
  };
}

/** An update of a terminating object may only remove finalizers. Removing the last one deletes it. */
function updated(item: Item, content: Content): Prediction {
  if (item.terminating) {
    if (content.finalizers.some((f) => !item.finalizers.includes(f))) return refused(422);
    if (content.finalizers.length === 0) return { status: 200, effect: 'removed', name: item.name };
  }
  if (sameContent(item, content)) return refused(200);
  return { status: 200, effect: 'stored', name: item.name, content };
}

function predictDelete(item: Item, del: { uid: Demand; version: Demand }): Prediction {
  if (del.uid === 'wrong' || del.version === 'wrong') return refused(409);
  return removal(item);
}

/** The effect of an allowed DELETE. */
export function removal(item: Item): Prediction {
  if (item.finalizers.length === 0) return { status: 200, effect: 'removed', name: item.name };
  return item.terminating ? refused(200) : { status: 200, effect: 'terminating', name: item.name };
}

export const contentOf = ({ tier, payload, finalizers }: Item): Content => ({ tier, payload, finalizers });
