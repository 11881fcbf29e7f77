// Runs a history against a server and the model side by side; throws at the first disagreement.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { Target, WireResponse } from '../replay/types.ts';
import { type Ask, asker } from './ask.ts';
import { type Kind, toItem, toObject } from './kinds.ts';
import type { Demand, Operation } from './operations.ts';
import { type Prediction, predict, removal, type Write } from './predict.ts';
import { Watcher } from './watcher.ts';
import {
  commit,
  type Item,
  newWorld,
  SELECTORS,
  type Selector,
  sameContent,
  selected,
  type World,
} from './world.ts';

// More than all names together.
const MOST_ITEMS = 10;
const WRONG_UID = '00000000-0000-4000-8000-000000000000';

export interface Run {
  readonly target: Target;
  readonly kind: Kind;
  readonly ns: string;
  readonly patienceMs: number;
}

export async function drive(run: Run, history: readonly Operation[]): Promise<void> {
  const driver = new Driver(run);
  try {
    for (const operation of history) await driver.perform(operation);
    await driver.finish();
  } finally {
    driver.close();
  }
}

class Driver {
  private readonly run: Run;
  private readonly ask: Ask;
  private readonly world: World = newWorld();
  private readonly path: string;
  private readonly watchers: Watcher[] = [];

  constructor(run: Run) {
    this.run = run;
    this.ask = asker(run.target);
    this.path = `${run.kind.root}/namespaces/${run.ns}/${run.kind.plural}`;
  }

  async perform(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'get':
        return this.get(operation.name);
      case 'list':
        return this.list(SELECTORS[operation.selector]!);
      case 'pages':
        return this.pages(operation);
      case 'watch':
        return this.watch(SELECTORS[operation.selector]!);
      case 'reconnect':
        return this.watchers[operation.watcher]?.reconnect();
      case 'catchUp':
        return this.watchers[operation.watcher]?.catchUp(this.world);
      case 'elsewhere':
        return this.writeElsewhere(operation.name);
      case 'deleteCollection':
        return this.deleteCollection(SELECTORS[operation.selector]!);
      default:
        return this.write(operation);
    }
  }

  /** A last change that every watcher sees proves that no other event is pending. */
  async finish(): Promise<void> {
    for (const tier of ['gold', undefined] as const) {
      await this.write({ kind: 'delete', name: 'a', uid: 'none', version: 'none' });
      await this.write({
        kind: 'merge',
        name: 'a',
        tier: undefined,
        payload: undefined,
        finalizers: [],
        version: 'none',
      });
      await this.write({ kind: 'create', name: 'a', content: { tier, payload: 9, finalizers: [] } });
    }
    for (const watcher of this.watchers) await watcher.catchUp(this.world);
    await this.list(SELECTORS[0]!);
  }

  close(): void {
    for (const watcher of this.watchers) watcher.close();
  }

  private async write(write: Write): Promise<void> {
    const prediction = predict(this.world, write, this.run.kind);
    const answer = await this.send(write);
    if (answer.status !== prediction.status) throw wrong(write, prediction, answer);
    await this.adopt(prediction);
    await this.get(write.name);
  }

  /** Stores uid and version of what was written, after checking that the rest is as predicted. */
  private async adopt(prediction: Prediction): Promise<void> {
    if (prediction.effect === 'none') return;
    const before = this.world.items.get(prediction.name);
    if (prediction.effect === 'removed') return commit(this.world, prediction.name, undefined);
    const stored = toItem(
      this.run.kind,
      (await this.ask('GET', `${this.path}/${prediction.name}`)).body as JsonObject,
    );
    const content = prediction.effect === 'stored' ? prediction.content : before!;
    const terminating = prediction.effect === 'terminating' || before?.terminating === true;
    const fits =
      sameContent(stored, content) &&
      stored.terminating === terminating &&
      (before === undefined || (stored.uid === before.uid && BigInt(stored.rv) > BigInt(before.rv)));
    if (!fits) throw new Error(`predicted ${JSON.stringify(prediction)}, stored ${JSON.stringify(stored)}`);
    commit(this.world, prediction.name, stored);
  }

  private send(write: Write): Promise<WireResponse> {
    const { kind } = this.run;
    const item = this.world.items.get(write.name);
    const one = `${this.path}/${write.name}`;
    switch (write.kind) {
      case 'create':
        return this.ask('POST', this.path, toObject(kind, write.name, write.content));
      case 'put':
        return this.ask('PUT', one, toObject(kind, write.name, write.content, this.demands(write, item)));
      case 'merge':
        return this.ask('PATCH', one, this.mergePatch(write, item), 'application/merge-patch+json');
      case 'strategic':
        return this.ask('PATCH', one, tierPatch(write.tier), 'application/strategic-merge-patch+json');
      case 'json':
        return this.ask('PATCH', one, this.jsonPatch(write), 'application/json-patch+json');
      case 'delete':
        return this.ask('DELETE', one, { preconditions: this.demands(write, item) });
    }
  }

  private demands({ uid, version }: { uid?: Demand; version: Demand }, item: Item | undefined): JsonObject {
    const past = this.world.past.get(item?.name ?? '')?.at(-1) ?? '1';
    const pick = (demand: Demand | undefined, right: string | undefined, other: string) =>
      demand === 'right' ? (right ?? other) : other;
    return {
      ...(uid === undefined || uid === 'none' ? {} : { uid: pick(uid, item?.uid, WRONG_UID) }),
      ...(version === 'none' ? {} : { resourceVersion: pick(version, item?.rv, past) }),
    };
  }

  private mergePatch(write: Extract<Write, { kind: 'merge' }>, item: Item | undefined): Json {
    return {
      metadata: {
        ...(write.tier === undefined ? {} : { labels: { tier: write.tier } }),
        ...(write.finalizers === undefined ? {} : { finalizers: [...write.finalizers] }),
        ...this.demands(write, item),
      },
      ...(write.payload === undefined ? {} : this.run.kind.write(write.payload)),
    };
  }

  private jsonPatch({ from, to }: { from: number; to: number }): Json {
    const { pointer, pointerValue } = this.run.kind;
    return [
      { op: 'test', path: pointer, value: pointerValue(from) },
      { op: 'replace', path: pointer, value: pointerValue(to) },
    ];
  }

  private async deleteCollection(selector: Selector): Promise<void> {
    const planned = selected(this.world, selector);
    const answer = await this.ask('DELETE', `${this.path}?${selector.query}`);
    if (answer.status !== 200) throw new Error(`deletecollection [${selector.query}]: ${answer.status}`);
    for (const item of planned) await this.adopt(removal(item));
  }

  /** The same name in another namespace is another object. */
  private async writeElsewhere(name: string): Promise<void> {
    const { kind, ns } = this.run;
    const object = toObject(kind, name, { tier: 'gold', payload: 1, finalizers: [] });
    await this.ask('POST', `${kind.root}/namespaces/${ns}-b/${kind.plural}`, object);
  }

  private async get(name: string): Promise<void> {
    const item = this.world.items.get(name);
    const { status, body } = await this.ask('GET', `${this.path}/${name}`);
    if (item === undefined ? status !== 404 : status !== 200) throw new Error(`GET ${name}: ${status}`);
    if (item !== undefined) expectSame([toItem(this.run.kind, body as JsonObject)], [item], `GET ${name}`);
  }

  private async list(selector: Selector): Promise<void> {
    const { items } = await this.page(selector, '');
    expectSame(items, selected(this.world, selector), `list [${selector.query}]`);
  }

  /** Later pages show the state of the first page, whatever is written in between. */
  private async pages({ selector, limit, meanwhile }: Extract<Operation, { kind: 'pages' }>): Promise<void> {
    const chosen = SELECTORS[selector]!;
    const expected = selected(this.world, chosen);
    const found: Item[] = [];
    let token = '';
    do {
      const page = await this.page(
        chosen,
        `limit=${limit}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`,
      );
      if (page.items.length > limit) throw new Error(`a page of ${page.items.length} with limit ${limit}`);
      found.push(...page.items);
      token = page.next;
      if (found.length === page.items.length) await this.perform(meanwhile);
      if (found.length > MOST_ITEMS) throw new Error(`pages [${chosen.query}] without end`);
    } while (token !== '');
    expectSame(found, expected, `pages [${chosen.query}] by ${limit}`);
  }

  private async page({ query }: Selector, more: string) {
    const { status, body } = await this.ask(
      'GET',
      `${this.path}?${[query, more].filter((q) => q !== '').join('&')}`,
    );
    if (status !== 200 || !isObject(body) || !isObject(body.metadata)) throw new Error(`list: ${status}`);
    const items = (body.items as JsonObject[]).map((object) => toItem(this.run.kind, object));
    return {
      items,
      next: String(body.metadata.continue ?? ''),
      version: String(body.metadata.resourceVersion),
    };
  }

  private async watch(selector: Selector): Promise<void> {
    const { version } = await this.page(selector, '');
    const { path, world, run } = this;
    const watcher = new Watcher({ ...run, path, selector, position: world.history.length, version });
    await watcher.connect();
    this.watchers.push(watcher);
  }
}

const tierPatch = (tier: string | null): Json => ({ metadata: { labels: { tier } } });

const wrong = (write: Write, prediction: Prediction, answer: WireResponse) =>
  new Error(
    `${JSON.stringify(write)}: predicted ${JSON.stringify(prediction)}, got ${answer.status} ${JSON.stringify(answer.body)}`,
  );

function expectSame(actual: Item[], expected: Item[], label: string): void {
  const text = (items: Item[]) =>
    JSON.stringify(items.map((i) => [i.name, i.uid, i.rv, i.tier, i.payload, i.finalizers, i.terminating]));
  if (text(actual) !== text(expected))
    throw new Error(`${label}: expected ${text(expected)}, got ${text(actual)}`);
}
