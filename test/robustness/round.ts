// One round: a program runs in a simulation, then the faults stop, everything gets time to catch up, and the history is
// checked. A violated guarantee is reported with its name, its seed and the command that repeats it.

import { type Instant, instant, type Millis, millis, minutes, plus, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { ApiError } from '@lapse/kube/api/status';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { type Evidence, GUARANTEES, type GuaranteeName } from './guarantees.ts';
import { drawProgram, type ProgramOptions, type Step } from './program.ts';
import type { Subject } from './subject.ts';

export interface Round {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly evidence: Evidence;
  readonly broken: Partial<Record<GuaranteeName, readonly string[]>>;
  readonly timeline: string;
}

/** The longest retry is five minutes (refused for missing rights), and a held clock is checked every half minute. */
const RECOVERY = minutes(16);
/** A clock that is ahead by less than this is trusted. */
const CLOCK_TOLERANCE = seconds(1);

export async function runRound(subject: Subject, seed: number, options: ProgramOptions): Promise<Round> {
  const steps = drawProgram(seededRandom(seed), options);
  const { compose, kinds = [], simulatedControllers = () => [], objects = [] } = subject;
  const simulation = await simulate({ compose, seed, kinds, simulatedControllers: simulatedControllers() });
  try {
    await simulation.apply(objects);
    for (const step of steps) await new Runner(subject, simulation).run(step);
    const recovered = await recover(simulation);
    await afterwards(subject, simulation);
    const evidence = await gather(subject, simulation, recovered, steps);
    return { seed, steps, evidence, broken: judge(evidence), timeline: simulation.timeline() };
  } finally {
    await simulation.close();
  }
}

export function judge(evidence: Evidence): Round['broken'] {
  const found = Object.entries(GUARANTEES).map(([name, guarantee]) => [name, guarantee(evidence)] as const);
  return Object.fromEntries(found.filter(([, problems]) => problems.length > 0));
}

/** Actions of a user and faults, on one simulation. */
class Runner {
  readonly #subject: Subject;
  readonly #simulation: Simulation;

  constructor(subject: Subject, simulation: Simulation) {
    this.#subject = subject;
    this.#simulation = simulation;
  }

  async run(step: Step): Promise<void> {
    const { faults } = this.#simulation;
    switch (step.do) {
      case 'put':
        return this.#put(step.name, step.endsIn);
      case 'move':
        return this.#move(step.name, step.endsIn);
      case 'replace':
        return this.#replace(step.name, step.endsIn);
      case 'touch':
        return this.#touch(step.name);
      case 'remove':
        await this.#remove(step.name);
        return;
      case 'race':
        return faults.justBefore(`delete ${this.#subject.resource} ${step.name}`, () => this.#race(step));
      case 'fault':
        return faults.answer(step.on, step.fault, { times: step.times });
      case 'pass':
        return this.#simulation.timePasses(millis(step.length));
      default:
        return this.#weather(step);
    }
  }

  async #weather(step: Exclude<Step, { name: string } | { do: 'fault' | 'pass' }>): Promise<void> {
    const { faults, server } = this.#simulation;
    switch (step.do) {
      case 'break':
        return faults.breakWatches(step.how);
      case 'clock':
        return this.#simulation.skewProcess(millis(step.offset));
      case 'slow':
        return faults.slowServer(millis(step.delay));
      case 'hold':
        return faults.holdEvents();
      case 'release':
        return faults.releaseEvents();
      case 'twice':
        return faults.duplicateEvents();
      case 'compact':
        return server.compact();
      case 'crash':
        return this.#simulation.crash();
      case 'restart':
        return this.#simulation.restart();
      case 'heal':
        return faults.heal();
    }
  }

  #race(step: Extract<Step, { do: 'race' }>): Promise<void> {
    if (step.with === 'touch') return this.#touch(step.name);
    return step.with === 'move' ? this.#move(step.name, step.endsIn) : this.#replace(step.name, step.endsIn);
  }

  /** Deadlines are whole seconds of the server's time. */
  #endsAt(endsIn: number): Instant {
    return instant(Math.ceil((this.#simulation.serverNow() + endsIn) / 1000) * 1000);
  }
  #ref = (name: string): string => `${this.#subject.kind.kind.toLowerCase()}/${name}`;

  async #put(name: string, endsIn: number): Promise<void> {
    const { userClient } = this.#simulation;
    if ((await userClient.get(this.#ref(name))) !== undefined) return;
    // Another step may delete it before its status is written.
    await unlessGone(
      userClient.create(this.#subject.create(name, this.#endsAt(endsIn), this.#simulation.serverNow())),
    );
  }
  async #move(name: string, endsIn: number): Promise<void> {
    const { userClient } = this.#simulation;
    const object = await userClient.get(this.#ref(name));
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const patch = this.#subject.moveEnd?.(object, this.#endsAt(endsIn));
    if (patch !== undefined) await unlessGone(userClient.patch(this.#ref(name), patch));
  }
  async #touch(name: string): Promise<void> {
    const { userClient } = this.#simulation;
    if ((await userClient.get(this.#ref(name))) === undefined) return;
    const touched = String(this.#simulation.clock.now());
    await unlessGone(userClient.patch(this.#ref(name), { metadata: { labels: { touched } } }));
  }
  #remove = (name: string): Promise<boolean> =>
    this.#simulation.userClient.delete(this.#ref(name), { propagation: 'Background' });
  async #replace(name: string, endsIn: number): Promise<void> {
    if (await this.#remove(name)) await this.#put(name, endsIn);
  }
}

/** Another client may have changed it between the read and the write. */
async function unlessGone(act: Promise<void>): Promise<void> {
  try {
    await act;
  } catch (error) {
    const isRace = error instanceof ApiError && (error.code === 404 || error.reason === 'AlreadyExists');
    if (!isRace) throw error;
  }
}

/** The faults stop, the clocks agree, the process runs. */
async function recover(simulation: Simulation): Promise<Instant> {
  simulation.faults.heal();
  await simulation.skewProcess(millis(0));
  if (!simulation.running) await simulation.restart();
  await simulation.timePasses(RECOVERY);
  return simulation.serverNow();
}

/** Without faults, deletions are on time. */
async function afterwards(subject: Subject, simulation: Simulation): Promise<void> {
  const runner = new Runner(subject, simulation);
  for (const [name, endsIn] of [
    ['x', 10_000],
    ['y', 20_000],
    ['z', 20_000],
  ] as const)
    await runner.run({ do: 'put', name, endsIn });
  await runner.run({ do: 'move', name: 'y', endsIn: 40_000 });
  await simulation.timePasses(minutes(2));
}

async function gather(
  subject: Subject,
  simulation: Simulation,
  recovered: Instant,
  steps: readonly Step[],
): Promise<Evidence> {
  const { items } = await simulation.user.list(subject.kind);
  const { changes, requests } = simulation;
  return {
    subject,
    changes,
    requests,
    left: items,
    recovered,
    ended: plus(simulation.serverNow(), millis(0)),
    tolerance: toleranceOf(steps),
  };
}

function toleranceOf(steps: readonly Step[]): Millis {
  const has = (what: Step['do']) => steps.some((step) => step.do === what);
  if (!has('clock')) return millis(0);
  return CLOCK_TOLERANCE;
}

/** Undefined if every guarantee was kept. */
export function reportOf(round: Round, replay: string): string | undefined {
  const broken = Object.entries(round.broken);
  if (broken.length === 0) return undefined;
  const promises = broken.map(([name, problems]) => `  ${name}: ${problems.join('; ')}`);
  return [
    `broken with seed ${round.seed}:`,
    ...promises,
    `again: ${replay.replace('%d', String(round.seed))}`,
    'what happened:',
    round.timeline,
    'what was done:',
    ...round.steps.map((step) => `  ${JSON.stringify(step)}`),
  ].join('\n');
}
