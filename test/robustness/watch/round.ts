// One round about watches: a client writes, watchers follow over a connection that breaks, and the server compacts its
// history from time to time. What each watcher received is compared with what was committed.

import { millis, minutes } from '@lapse/base/instant';
import { type Random, seededRandom } from '@lapse/base/random';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { Faults } from '@lapse/simulation/faults';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { Wire } from '@lapse/simulation/wire';
import { flawed, type WatchFlaw } from './flaws.ts';
import {
  type Committed,
  WATCH_GUARANTEES,
  type WatchEvidence,
  type WatchGuaranteeName,
} from './guarantees.ts';
import { Watcher } from './watcher.ts';

export interface WatchRound {
  readonly seed: number;
  readonly evidence: readonly WatchEvidence[];
  readonly broken: Partial<Record<WatchGuaranteeName, readonly string[]>>;
}

const NAMESPACES = ['default', 'kube-system'];
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const WATCHED = [undefined, 'default', undefined];

export async function runWatchRound(
  seed: number,
  { steps, flaw }: { steps: number; flaw?: WatchFlaw },
): Promise<WatchRound> {
  const simulation = await simulate({ seed });
  const faults = new Faults();
  const watchers = WATCHED.map((namespace) => follow(simulation, faults, { namespace, flaw }));
  try {
    const scribe = new Scribe(simulation, seededRandom(seed), faults);
    for (let step = 0; step < steps; step++) await scribe.step();
    faults.heal();
    await simulation.timePasses(minutes(5));
    const evidence = watchers.map(({ heard, namespace }) => ({
      committed: scribe.committed,
      heard,
      namespace,
    }));
    return { seed, evidence, broken: judgeWatches(evidence) };
  } finally {
    for (const watcher of watchers) watcher.stop();
    await simulation.close();
  }
}

function follow(
  { server, clock }: Simulation,
  faults: Faults,
  { namespace, flaw }: { namespace: string | undefined; flaw: WatchFlaw | undefined },
): Watcher {
  const wire = new Wire({
    handler: flawed(server.handle, flaw, server.revision),
    faults,
    clock,
    onRequest: () => {},
    onAnswer: () => {},
  });
  const random = seededRandom(1);
  const client = createClient({ transport: inProcessTransport(wire.handle), clock, random, flow: 'none' });
  const watcher = new Watcher(client, clock, namespace);
  void watcher.run();
  return watcher;
}

/** Writes, breaks and waits. It knows all commits, because it is the only writer. */
class Scribe {
  readonly committed: Committed[] = [];
  readonly #simulation: Simulation;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #there = new Set<string>();

  constructor(simulation: Simulation, random: Random, faults: Faults) {
    this.#simulation = simulation;
    this.#random = random;
    this.#faults = faults;
  }

  async step(): Promise<void> {
    const what = this.#below(20);
    if (what < 11) await this.#write();
    else if (what < 15) await this.#simulation.timePasses(millis(this.#below(90_000)));
    else if (what === 15) this.#faults.breakWatches(this.#one(['end', 'cut', 'gone']));
    else if (what === 16) this.#faults.holdEvents();
    else if (what === 17) this.#faults.releaseEvents();
    else if (what === 18) this.#simulation.server.compact();
    else this.#faults.answer(this.#one(['watch', 'list']), this.#one([500, 410, 429]));
    if (this.#below(3) === 0) await this.#simulation.settle();
  }

  #below = (most: number): number => Math.floor(this.#random.next() * most);
  #one = <T>(of: readonly T[]): T => of[this.#below(of.length)]!;

  async #write(): Promise<void> {
    const [namespace, name] = [this.#one(NAMESPACES), this.#one(NAMES)];
    const id = `${namespace}/${name}`;
    const { user, server } = this.#simulation;
    const metadata = { namespace, name };
    let type: Committed['type'];
    if (!this.#there.has(id)) {
      await user.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      this.#there.add(id);
      type = 'added';
    } else if (this.#below(3) === 0) {
      await user.delete(ConfigMap, metadata);
      this.#there.delete(id);
      type = 'deleted';
    } else {
      const patch = { data: { n: String(server.revision()) } };
      await user.patch(ConfigMap, metadata, { type: 'merge', patch });
      type = 'modified';
    }
    this.committed.push({ version: server.revision(), namespace, name, type });
  }
}

export function judgeWatches(evidence: readonly WatchEvidence[]): WatchRound['broken'] {
  const found = Object.entries(WATCH_GUARANTEES).map(
    ([name, guarantee]) => [name, evidence.flatMap(guarantee)] as const,
  );
  return Object.fromEntries(found.filter(([, problems]) => problems.length > 0));
}

/** Undefined if every guarantee was kept. */
export function watchReportOf({ seed, broken }: WatchRound, replay: string): string | undefined {
  const promises = Object.entries(broken);
  if (promises.length === 0) return undefined;
  return [
    `broken with seed ${seed}:`,
    ...promises.map(([name, problems]) => `  ${name}: ${problems.slice(0, 10).join('; ')}`),
    `again: ${replay.replace('%d', String(seed))}`,
  ].join('\n');
}
