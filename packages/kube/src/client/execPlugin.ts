// Credential plugins: runs a program and uses its output as credentials until they expire or the server rejects them.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '@lapse/base/clock';
import { minutes, plus } from '@lapse/base/instant';
import type { ExecConfig } from './connection.ts';
import type { Credentials } from './credentials.ts';
import { buildExecInfo, ExecOutputError, parseExecCredential } from './execCredential.ts';
import { readMaterial } from './material.ts';
import { renewing } from './renewing.ts';
import { TransportError } from './transport.ts';

export interface ExecPluginOptions {
  readonly clock: Clock;
  /** The environment of the plugin, before the additions of its own configuration. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A user is at the terminal, so the plugin may prompt. */
  readonly interactive?: boolean;
}

/** Time limit of a plugin that cannot prompt a user. */
const TIME_LIMIT = minutes(1);
const MAX_OUTPUT = 1024 * 1024;
const MAX_ERROR_OUTPUT = 1000;

interface Run {
  /** Why the plugin failed, or undefined if it exited with code 0. */
  readonly problem: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Collects the output of a stream. Calls `onTooLong` if it exceeds the limit. */
function gather(child: ChildProcess, name: 'stdout' | 'stderr', onTooLong: () => void): () => string {
  const parts: Buffer[] = [];
  let size = 0;
  child[name]?.on('data', (part: Buffer) => {
    size += part.length;
    if (size <= MAX_OUTPUT) parts.push(part);
    else onTooLong();
  });
  return () => Buffer.concat(parts).toString('utf8');
}

function run(exec: ExecConfig, options: ExecPluginOptions, info: string, interactive: boolean): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(exec.command, exec.args, {
      env: { ...options.environment, ...exec.env, KUBERNETES_EXEC_INFO: info } as NodeJS.ProcessEnv,
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
      windowsHide: true,
    });
    let stopped: string | undefined;
    const stop = (why: string) => {
      stopped ??= `the plugin was stopped: ${why}`;
      child.kill('SIGKILL');
    };
    const onTooLong = () => stop(`its output exceeds ${MAX_OUTPUT / 1024 ** 2} MiB`);
    const stdout = gather(child, 'stdout', onTooLong);
    const stderr = gather(child, 'stderr', onTooLong);
    const { clock } = options;
    const cancel = interactive
      ? () => {}
      : clock.wakeAt(plus(clock.now(), TIME_LIMIT), () =>
          stop(`it did not exit within ${TIME_LIMIT / 1000} s`),
        );
    child.on('error', (error) => {
      cancel();
      reject(error);
    });
    child.on('close', (code, signal) => {
      cancel();
      resolve({ problem: stopped ?? problemOf(code, signal), stdout: stdout(), stderr: stderr() });
    });
  });
}

function problemOf(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (signal !== null) return `the plugin was terminated by ${signal}`;
  return code === 0 ? undefined : `the plugin exited with code ${code}`;
}

function isInteractive(exec: ExecConfig, available: boolean): boolean {
  if (exec.interactiveMode === 'Always' && !available)
    throw new ExecOutputError(
      'the plugin requires a terminal (interactiveMode: Always), but stdin is not a terminal',
    );
  return available && exec.interactiveMode !== 'Never';
}

function describe(exec: ExecConfig, error: unknown): string {
  const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const problem = absent ? 'no such program' : error instanceof Error ? error.message : String(error);
  const hint = absent && exec.installHint !== undefined ? `\n${exec.installHint}` : '';
  return `${exec.field}: ${exec.command}: ${problem}${hint}`;
}

/** Caches the credentials until they expire. Runs the plugin again when the server rejects them. */
export function execPlugin(exec: ExecConfig, options: ExecPluginOptions): Credentials {
  async function load() {
    try {
      const interactive = isInteractive(exec, options.interactive === true);
      const ca = exec.cluster?.ca === undefined ? undefined : await readMaterial(exec.cluster.ca);
      const { problem, stdout, stderr } = await run(
        exec,
        options,
        buildExecInfo(exec, interactive, ca),
        interactive,
      );
      if (problem !== undefined) {
        const output = stderr.trim().slice(-MAX_ERROR_OUTPUT);
        throw new ExecOutputError(output === '' ? problem : `${problem}: ${output}`);
      }
      return parseExecCredential(stdout, exec.apiVersion);
    } catch (error) {
      throw new TransportError('credentials', describe(exec, error), { sent: false, cause: error });
    }
  }
  return renewing({ clock: options.clock, load });
}
