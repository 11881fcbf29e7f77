// The simple model: the contents of a correct store after each operation, and its answers. One namespace, one kind, a
// few names: enough to combine preconditions, finalizers, selectors and history in every way.

export type Tier = 'gold' | 'silver';

export interface Content {
  readonly tier: Tier | undefined;
  readonly payload: number;
  readonly finalizers: readonly string[];
}

export interface Item extends Content {
  readonly name: string;
  readonly uid: string;
  readonly rv: string;
  readonly terminating: boolean;
}

/** One committed change. The revision of a removal is known only to watchers. */
export interface Change {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

export interface World {
  readonly items: Map<string, Item>;
  readonly history: Change[];
  /** Earlier versions of objects of this name. */
  readonly past: Map<string, string[]>;
}

export const newWorld = (): World => ({ items: new Map(), history: [], past: new Map() });

/** Records the new state of an object. */
export function commit(world: World, name: string, after: Item | undefined): void {
  const before = world.items.get(name);
  world.history.push({ before, after });
  if (before !== undefined) world.past.set(name, [...(world.past.get(name) ?? []), before.rv]);
  if (after === undefined) world.items.delete(name);
  else world.items.set(name, after);
}

export interface Selector {
  readonly query: string;
  readonly matches: (item: Item) => boolean;
}

const byLabel = (text: string) => `labelSelector=${encodeURIComponent(text)}`;

export const SELECTORS: readonly Selector[] = [
  { query: '', matches: () => true },
  { query: byLabel('tier=gold'), matches: (i) => i.tier === 'gold' },
  { query: byLabel('tier!=gold'), matches: (i) => i.tier !== 'gold' },
  { query: byLabel('tier in (gold,silver)'), matches: (i) => i.tier !== undefined },
  { query: byLabel('!tier'), matches: (i) => i.tier === undefined },
  { query: `fieldSelector=${encodeURIComponent('metadata.name=a')}`, matches: (i) => i.name === 'a' },
];

export const selected = (world: World, selector: Selector): Item[] =>
  [...world.items.values()].filter(selector.matches).sort((a, b) => (a.name < b.name ? -1 : 1));

export interface ExpectedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly item: Item;
}

/** The event of a change for a watcher with this selector. Leaving the selector is a DELETED. */
export function eventFor({ before, after }: Change, { matches }: Selector): ExpectedEvent | undefined {
  const was = before !== undefined && matches(before);
  const is = after !== undefined && matches(after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', item: after };
  return was ? { type: 'DELETED', item: before } : undefined;
}

export const sameContent = (a: Content, b: Content): boolean =>
  a.tier === b.tier && a.payload === b.payload && a.finalizers.join() === b.finalizers.join();
