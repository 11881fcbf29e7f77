// cel-go as configured by Kubernetes, as an oracle: a small Go program (test/kube/celgo), built once into the user's
// cache, that evaluates programs line by line.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const SOURCE = join(import.meta.dirname, '../kube/celgo');

export interface CelGoProgram {
  readonly expr: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly bindings: unknown;
  /** Adds cel-go's own libraries that Kubernetes leaves out. */
  readonly extensions?: boolean;
}

export interface CelGoResult {
  readonly value?: unknown;
  readonly error?: string;
  readonly compile?: string;
  readonly cost?: number;
  readonly min?: string;
  readonly max?: string;
  readonly type?: string;
}

/** Builds the oracle unless this source has been built before; returns the executable. */
function build(): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(SOURCE, file)));
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const executable = join(cache, 'lapse', `celgo-${hash.digest('hex').slice(0, 16)}`, 'celgo');
  if (existsSync(executable)) return executable;
  mkdirSync(dirname(executable), { recursive: true });
  execFileSync('go', ['build', '-o', executable, '.'], { cwd: SOURCE, stdio: 'inherit' });
  return executable;
}

/** The results of cel-go, in the order of the programs. */
export function evaluateWithCelGo(programs: readonly CelGoProgram[]): CelGoResult[] {
  const input = programs.map((q) => `${JSON.stringify(q)}\n`).join('');
  const { stdout, status, stderr } = spawnSync(build(), { input, maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`celgo failed: ${stderr.toString()}`);
  const lines = stdout.toString().trim().split('\n');
  if (lines.length !== programs.length)
    throw new Error(`${lines.length} results to ${programs.length} programs`);
  return lines.map((line) => JSON.parse(line) as CelGoResult);
}
