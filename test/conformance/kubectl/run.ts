// Runs sessions against one server: with a kubeconfig, a separate cache directory, no colours, in English.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command, Outcome, Session } from './types.ts';

export interface Kubectl {
  readonly binary: string;
  readonly kubeconfig: string;
}

const PATIENCE_MS = 30_000;
const ATTEMPTS = 50;

/** Outcomes in order. The namespace of the session is created first. */
export async function runSession(kubectl: Kubectl, session: Session): Promise<Outcome[]> {
  const home = mkdtempSync(join(tmpdir(), 'kubectl-'));
  const ns = `k-${session.name}`;
  const widget = `widget${session.name.replaceAll('-', '')}`;
  const names: Record<string, string> = { ns, widget, Widget: `W${widget.slice(1)}` };
  const fill = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => names[name] ?? whole);
  const run = (command: Command): Promise<Outcome> => {
    const { stdin } = command;
    const args = ['--kubeconfig', kubectl.kubeconfig, '-n', ns, ...command.args.map(fill)];
    const filled = { ...command, args, ...(stdin === undefined ? {} : { stdin: fill(stdin) }) };
    return repeat(filled.untilSuccess === true ? ATTEMPTS : 1, () =>
      execute(kubectl.binary, filled, { home, run }),
    );
  };
  try {
    await run({ args: ['create', 'namespace', ns] });
    const outcomes: Outcome[] = [];
    for (const command of session.commands) outcomes.push(await run(command));
    return outcomes;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The first outcome with exit code 0, or the last one. The start time of kubectl is the pause between attempts. */
async function repeat(attempts: number, attempt: () => Promise<Outcome>): Promise<Outcome> {
  const outcome = await attempt();
  return outcome.exit === 0 || attempts <= 1 ? outcome : repeat(attempts - 1, attempt);
}

interface Surroundings {
  readonly home: string;
  readonly run: (command: Command) => Promise<Outcome>;
}

function execute(binary: string, command: Command, { home, run }: Surroundings): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: home, LC_ALL: 'C', TZ: 'UTC', ...command.env };
    const child = spawn(binary, command.args, { env });
    const out = { stdout: '', stderr: '' };
    let inner: Promise<Outcome[]> | undefined;
    let killed = false;
    const kill = () => {
      killed = true;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(kill, PATIENCE_MS);
    const lines = () => out.stdout.split('\n').length - 1;
    const follow = async () => {
      if (command.untilLines === undefined) return;
      inner ??= lines() > 0 ? inTurn(command.meanwhile ?? [], run) : undefined;
      if (inner === undefined || lines() < command.untilLines) return;
      await inner;
      kill();
    };
    child.stdout.on('data', (chunk: Buffer) => {
      out.stdout += chunk.toString();
      follow().catch(reject);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      out.stderr += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      const exit = killed ? ('killed' as const) : (code ?? -1);
      Promise.resolve(inner ?? []).then((done) => {
        resolve({ command: command.args.slice(4).join(' '), exit, ...out, inner: done });
      }, reject);
    });
    child.stdin.on('error', () => {});
    child.stdin.end(command.stdin ?? '');
  });
}

async function inTurn(commands: readonly Command[], run: Surroundings['run']): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const command of commands) outcomes.push(await run(command));
  return outcomes;
}
