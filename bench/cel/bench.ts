// npm run bench -- cel [--quick]: the Cleaner's condition over 1,000 revisions, on the engine of Lapse, in hand-written
// JavaScript and on the npm libraries. Contenders take turns, so that load of the machine affects all alike; ratios are
// medians over the turns.

import { compile, conditionEnvironment, DYN, timestampFromMillis } from '@lapse/cel/cel';
import { handWritten, idleRevision, type Revision, SEED_CONDITION } from '../../test/cel/seed.ts';
import { machine } from '../machine.ts';
import { type Contender, peers } from '../peers/cel.ts';
import { markdownTable } from '../table.ts';

const REVISIONS = 1000;
const NOW = Date.UTC(2026, 0, 1);
const MAX_TO_HAND_WRITTEN = 2;
const MIN_TO_FASTEST_PEER = 3;
const MAX_COMPILE_MS = 0.5;
const OURS = 'lapse';
const BY_HAND = 'hand-written JavaScript';

function revisions(): { items: Revision[] } {
  const items = Array.from({ length: REVISIONS }, (_, i) =>
    idleRevision(`commit-${i}--account`, new Date(Date.UTC(2024, 0, 1) + i * 60_000).toISOString()),
  );
  // As parsed from an answer of an API server.
  return JSON.parse(JSON.stringify({ items })) as { items: Revision[] };
}

function ours(): Contender {
  const compiled = compile(SEED_CONDITION, conditionEnvironment({ revisions: DYN }));
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return (data, millis) => {
    const outcome = compiled.program.evaluate({ revisions: data, time: timestampFromMillis(millis) });
    return outcome.kind === 'value' ? outcome.value : outcome;
  };
}

/** Milliseconds of one evaluation, over `count` of them. */
function time(contender: Contender, data: unknown, count: number): number {
  const start = performance.now();
  for (let i = 0; i < count; i++) contender(data, NOW);
  return (performance.now() - start) / count;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

function compileMillis(rounds: number): number {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const env = conditionEnvironment({ revisions: DYN });
    const start = performance.now();
    compile(SEED_CONDITION, env);
    times.push(performance.now() - start);
  }
  return median(times);
}

function report(claim: string, holds: boolean): string {
  return `${holds ? 'holds' : 'FAILS'}  ${claim}\n`;
}

export default async function run(args: readonly string[]): Promise<void> {
  const rounds = args.includes('--quick') ? 10 : 60;
  const data = revisions();
  const contenders = new Map<string, Contender>([
    [OURS, ours()],
    [BY_HAND, (d, millis) => handWritten(d as { items: Revision[] }, millis)],
    ...(await peers(SEED_CONDITION)),
  ]);
  for (const [name, contender] of contenders) {
    const answer = contender(data, NOW);
    if (answer !== true) throw new Error(`${name} answers ${String(answer)}`);
    time(contender, data, 30);
  }
  const times = new Map([...contenders.keys()].map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, contender] of contenders)
      times.get(name)!.push(time(contender, data, name.startsWith('@') ? 3 : 20));
  }
  const ratioTo = (name: string, base: string) =>
    median(times.get(name)!.map((t, round) => t / times.get(base)![round]!));
  const rows = [...contenders.keys()].map((name) => [
    name,
    median(times.get(name)!).toFixed(3),
    `${ratioTo(name, BY_HAND).toFixed(2)}×`,
    `${ratioTo(name, OURS).toFixed(2)}×`,
  ]);
  const toHand = ratioTo(OURS, BY_HAND);
  const fastestPeer = Math.min(
    ...[...contenders.keys()].filter((n) => n.startsWith('@')).map((n) => ratioTo(n, OURS)),
  );
  const compiling = compileMillis(args.includes('--quick') ? 50 : 300);
  process.stdout.write(`${machine()}\n\n`);
  process.stdout.write(
    `${markdownTable([`${REVISIONS} revisions`, 'ms', 'to hand-written', 'to ours'], rows)}\n\n`,
  );
  process.stdout.write(
    report(
      `at most ${MAX_TO_HAND_WRITTEN}× hand-written JavaScript: ${toHand.toFixed(2)}×`,
      toHand <= MAX_TO_HAND_WRITTEN,
    ),
  );
  process.stdout.write(
    report(
      `at least ${MIN_TO_FASTEST_PEER}× the fastest library: ${fastestPeer.toFixed(2)}×`,
      fastestPeer >= MIN_TO_FASTEST_PEER,
    ),
  );
  process.stdout.write(
    report(
      `compiles in at most ${MAX_COMPILE_MS} ms: ${compiling.toFixed(3)} ms`,
      compiling <= MAX_COMPILE_MS,
    ),
  );
}
