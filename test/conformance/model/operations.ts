// The operations of a random history, as data.

import fc from 'fast-check';
import type { Content, Tier } from './world.ts';

/** A version or uid to demand: none, the current one, or one that the object does not have (any more). */
export type Demand = 'none' | 'right' | 'wrong';

export type Operation =
  | { readonly kind: 'create'; readonly name: string; readonly content: Content }
  | {
      readonly kind: 'put';
      readonly name: string;
      readonly content: Content;
      readonly version: Demand;
      readonly uid: Demand;
    }
  | {
      readonly kind: 'merge';
      readonly name: string;
      readonly tier: Tier | null | undefined;
      readonly payload: number | undefined;
      readonly finalizers: readonly string[] | undefined;
      readonly version: Demand;
    }
  | { readonly kind: 'strategic'; readonly name: string; readonly tier: Tier | null }
  | { readonly kind: 'json'; readonly name: string; readonly from: number; readonly to: number }
  | { readonly kind: 'delete'; readonly name: string; readonly uid: Demand; readonly version: Demand }
  | { readonly kind: 'deleteCollection'; readonly selector: number }
  | { readonly kind: 'get'; readonly name: string }
  | { readonly kind: 'list'; readonly selector: number }
  | {
      readonly kind: 'pages';
      readonly selector: number;
      readonly limit: number;
      readonly meanwhile: Operation;
    }
  | { readonly kind: 'elsewhere'; readonly name: string }
  | { readonly kind: 'watch'; readonly selector: number }
  | { readonly kind: 'reconnect'; readonly watcher: number }
  | { readonly kind: 'catchUp'; readonly watcher: number };

const NAMES = ['a', 'b', 'c'];
export const FINALIZERS = ['example.com/one', 'example.com/two'];

const name = fc.constantFrom(...NAMES);
const payload = fc.integer({ min: 0, max: 3 });
const finalizers = fc.constantFrom([], [], [], [FINALIZERS[0]!], FINALIZERS);
const tier = fc.constantFrom<(Tier | undefined)[]>('gold', 'silver', undefined);
const content: fc.Arbitrary<Content> = fc.record({ tier, payload, finalizers });
const demand = fc.constantFrom<Demand[]>('none', 'none', 'right', 'right', 'wrong');
const selector = fc.nat({ max: 5 });
const watcher = fc.nat({ max: 7 });

const write: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), name, content }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('put' as const), name, content, version: demand, uid: demand }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('merge' as const),
      name,
      tier: fc.constantFrom<(Tier | null | undefined)[]>('gold', 'silver', null, undefined),
      payload: fc.option(payload, { nil: undefined }),
      finalizers: fc.option(finalizers, { nil: undefined }),
      version: demand,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('strategic' as const),
      name,
      tier: fc.constantFrom<(Tier | null)[]>('gold', 'silver', null),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('json' as const), name, from: payload, to: payload }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), name, uid: demand, version: demand }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteCollection' as const), selector }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('elsewhere' as const), name }) },
);

const read: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('get' as const), name }),
  fc.record({ kind: fc.constant('list' as const), selector }),
  fc.record({
    kind: fc.constant('pages' as const),
    selector,
    limit: fc.integer({ min: 1, max: 2 }),
    meanwhile: write,
  }),
);

const watching: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('watch' as const), selector }),
  fc.record({ kind: fc.constant('reconnect' as const), watcher }),
  fc.record({ kind: fc.constant('catchUp' as const), watcher }),
);

export const histories = (maxLength: number): fc.Arbitrary<Operation[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: write },
      { weight: 2, arbitrary: read },
      { weight: 2, arbitrary: watching },
    ),
    { minLength: 3, maxLength, size: 'max' },
  );
