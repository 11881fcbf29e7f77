// Evaluates alerting rules with Prometheus' own engine: a small Go program in this directory, built once into the
// user's cache.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface AlertCase {
  readonly rules: readonly AlertingRule[];
  /** In promtool's notation, one value per minute: `name{label="value"} 0+1x60`. */
  readonly series: readonly string[];
  /** The rules are evaluated every minute until then. */
  readonly minutes: number;
}

export interface FiringAlert {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

function build(): string {
  const source = import.meta.dirname;
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(source, file)));
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const executable = join(cache, 'lapse', `alerts-${hash.digest('hex').slice(0, 16)}`, 'alerts');
  if (existsSync(executable)) return executable;
  mkdirSync(dirname(executable), { recursive: true });
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' };
  execFileSync('go', ['build', '-ldflags', '-s -w', '-o', executable, '.'], {
    cwd: source,
    env,
    stdio: 'inherit',
  });
  return executable;
}

/** The alerts that fire at the end of each case, in the order of the cases. */
export function evaluateAlerts(cases: readonly AlertCase[]): FiringAlert[][] {
  const input = cases.map((one) => `${JSON.stringify(one)}\n`).join('');
  const { stdout, stderr, status } = spawnSync(build(), { input, maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`the alerts cannot be evaluated: ${stderr.toString()}`);
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as FiringAlert[]);
}
