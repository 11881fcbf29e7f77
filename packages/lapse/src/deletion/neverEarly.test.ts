// Invariants of deletions under random deadlines, extensions, faults and clocks:
//   neverEarly          no object is deleted before its deadline by the server's clock (with one second tolerance)
//   neverOverExtension  no object is deleted at its old deadline after the server accepted an extension
//   neverWrongUid       an object that was recreated under the same name is not mistaken for the old one
//   eventuallyDeleted   once the faults stop, every due object is deleted

import { millis } from '@lapse/base/instant';
import { ConfigMap, refuse } from '@lapse/runtime/world.testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inKit, type Kit } from './deletes.testkit.ts';

const names = fc.constantFrom('a', 'b', 'c');
const ttl = fc.integer({ min: 0, max: 20_000 });
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), name: names, ttl }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('extend' as const), name: names, ttl }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replace' as const), name: names, ttl }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('race' as const),
      name: names,
      ttl: fc.constantFrom(5000, 50_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      what: fc.constantFrom('hang' as const, 'lose' as const, 409, 429, 500),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('set' as const), by: fc.integer({ min: -25_000, max: 25_000 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('pass' as const), length: fc.integer({ min: 1, max: 15_000 }) }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

/** The state of the server at each deletion, and the injected faults. */
class Truth {
  readonly broken: string[] = [];
  readonly #kit: Kit;
  readonly #due = new Map<string, number>();
  #faults: ('hang' | 'lose' | number)[] = [];
  #races: { name: string; ttl: number }[] = [];

  constructor(kit: Kit) {
    this.#kit = kit;
    kit.onDeleted = (name) => {
      const early = this.#due.get(name)! - kit.clock.now();
      if (early > 1000) this.broken.push(`${name} was deleted ${early} ms early`);
    };
    kit.hook = async (request) => {
      const name = /configmaps\/(\w+)/.exec(request.path)?.[1];
      if (request.method !== 'DELETE' || name === undefined) return undefined;
      const race = this.#races.findIndex((r) => r.name === name);
      if (race !== -1) await this.extend(name, this.#races.splice(race, 1)[0]!.ttl);
      this.#due.set(name, Number((await kit.get(name))?.data?.expires ?? 0));
      const fault = this.#faults.shift();
      return typeof fault === 'number' ? refuse(fault, 'x') : fault;
    };
  }

  async put(name: string, ttl: number): Promise<void> {
    if ((await this.#kit.get(name)) === undefined) await this.#kit.put(name, ttl);
  }
  async extend(name: string, ttl: number): Promise<void> {
    if ((await this.#kit.get(name)) !== undefined) await this.#kit.extend(name, ttl);
  }
  async replace(name: string, ttl: number): Promise<void> {
    if ((await this.#kit.get(name)) !== undefined)
      await this.#kit.user.delete(ConfigMap, this.#kit.key(name));
    await this.#kit.put(name, ttl);
  }
  race(name: string, ttl: number): void {
    this.#races.push({ name, ttl });
  }
  fault(what: 'hang' | 'lose' | number): void {
    this.#faults.push(what);
  }
  heal(): void {
    this.#faults = [];
    this.#races = [];
  }
}

async function run(kit: Kit, truth: Truth, c: Command): Promise<void> {
  if (c.do === 'pass') await kit.pass(c.length);
  else if (c.do === 'set') kit.own.set(millis(c.by));
  else if (c.do === 'fault') truth.fault(c.what);
  else await truth[c.do](c.name, c.ttl);
}

test('neverEarly, neverOverExtension, neverWrongUid, eventuallyDeleted (random traffic, faults and clocks)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) =>
      inKit({ guarded: true }, async (kit) => {
        const truth = new Truth(kit);
        kit.manager.start();
        let offset = 0;
        for (const c of commands) {
          // Beyond 30 s nothing is deleted at all; deletionPolicy.test.ts covers that.
          if (c.do === 'set' && Math.abs(offset + c.by) > 25_000) continue;
          if (c.do === 'set') offset += c.by;
          await run(kit, truth, c);
          expect(truth.broken).toEqual([]);
        }
        truth.heal();
        kit.own.set(millis(-offset));
        await kit.pass(10 * 60_000);
        expect(truth.broken).toEqual([]);
        const left = (await kit.user.list(ConfigMap, { namespace: 'default', labelSelector: 'ends=yes' }))
          .items;
        expect(left.map(({ metadata }) => metadata.name)).toEqual([]);
      })(),
    ),
    { numRuns: 120 },
  );
});
