// The npm libraries for CEL, behind one signature. They are installed here at first use, and imported by computed
// names, so that no other code depends on them.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Evaluates the condition on the revisions at an instant; undefined if the library cannot. */
export type Contender = (revisions: unknown, millis: number) => unknown;

function install(): void {
  if (existsSync(join(import.meta.dirname, 'node_modules', '@marcbachmann', 'cel-js'))) return;
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: import.meta.dirname,
    stdio: 'inherit',
  });
}

const load = async (name: string): Promise<Record<string, unknown>> =>
  (await import(name)) as Record<string, unknown>;

type Environment = {
  registerVariable(name: string, type: string): Environment;
  parse(text: string): (context: unknown) => unknown;
};

async function marcbachmann(condition: string): Promise<Contender> {
  const module = await load('@marcbachmann/cel-js');
  const Env = module.Environment as new () => Environment;
  const env = new Env()
    .registerVariable('revisions', 'dyn')
    .registerVariable('time', 'google.protobuf.Timestamp');
  const program = env.parse(condition);
  return (revisions, millis) => program({ revisions, time: new Date(millis) });
}

async function bufbuild(condition: string): Promise<Contender> {
  const cel = await load('@bufbuild/cel');
  const { strings } = await load('@bufbuild/cel/ext');
  const wkt = await load('@bufbuild/protobuf/wkt');
  const env = (cel.celEnv as (options: unknown) => unknown)({ funcs: strings });
  const parsed = (cel.parse as (text: string) => unknown)(condition);
  const program = (cel.plan as (env: unknown, parsed: unknown) => (context: unknown) => unknown)(env, parsed);
  const timestamp = wkt.timestampFromMs as (millis: number) => unknown;
  return (revisions, millis) => program({ revisions, time: timestamp(millis) });
}

export async function peers(condition: string): Promise<ReadonlyMap<string, Contender>> {
  install();
  return new Map([
    ['@marcbachmann/cel-js 8.0.0', await marcbachmann(condition)],
    ['@bufbuild/cel 0.6.1', await bufbuild(condition)],
  ]);
}
