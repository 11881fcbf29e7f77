// A `lapse server` in a separate process, started for a test and stopped by pid.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';

const root = join(import.meta.dirname, '../..');

export interface ServerProcess {
  readonly url: string;
  readonly kubeconfig: string;
  readonly call: (method: string, path: string, body?: object) => Promise<{ status: number; body: Answer }>;
  /** Lines of a watch, parsed; ends quietly when the connection does. */
  readonly watch: (path: string) => AsyncGenerator<{ type: string; object: Answer }>;
  /** SIGKILL, and wait until the process is gone. */
  readonly kill: () => Promise<void>;
  /** SIGTERM; the exit code. */
  readonly stop: () => Promise<number | null>;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of a server are read by path in assertions
export type Answer = any;

export async function startServerProcess(data: string, args: readonly string[] = []): Promise<ServerProcess> {
  const kubeconfig = join(data, 'kubeconfig');
  const child = spawn(
    join(root, 'bin/lapse'),
    ['server', '--port', '0', '--data', data, '--kubeconfig-out', kubeconfig, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const url = await ready(child);
  const token = readFileSync(join(data, 'token'), 'utf8').trim();
  const agent = new Agent({
    connect: { ca: readFileSync(join(data, 'ca.crt'), 'utf8') },
    connections: 16,
    bodyTimeout: 0,
  });
  const headers = { authorization: `Bearer ${token}` };
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    url,
    kubeconfig,
    async call(method, path, body) {
      const response = await request(url + path, {
        method: method as 'GET',
        dispatcher: agent,
        headers: {
          ...headers,
          ...(body
            ? { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
            : {}),
        },
        ...(body ? { body: JSON.stringify(body), reset: false } : {}),
      });
      return { status: response.statusCode, body: await response.body.json() };
    },
    watch: (path) => watchLines(url + path, headers, agent),
    async kill() {
      child.kill('SIGKILL');
      await exited;
      await agent.destroy();
    },
    async stop() {
      child.kill('SIGTERM');
      const code = await exited;
      await agent.destroy();
      return code;
    },
  };
}

function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = '';
    let err = '';
    child.stderr!.on('data', (chunk) => (err += chunk));
    child.stdout!.on('data', (chunk) => {
      out += chunk;
      const found = /^serving (\S+)$/m.exec(out);
      if (found) resolve(found[1]!);
    });
    child.once('exit', (code) =>
      reject(new Error(`lapse server ended with ${code} before it served:\n${err}`)),
    );
  });
}

async function* watchLines(
  url: string,
  headers: Record<string, string>,
  agent: Agent,
): AsyncGenerator<{ type: string; object: Answer }> {
  let rest = '';
  try {
    const response = await request(url, { dispatcher: agent, headers });
    response.body.setEncoding('utf8');
    for await (const chunk of response.body) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line) yield JSON.parse(line);
    }
  } catch {
    // The server was killed: complete lines count, the torn rest does not.
  }
}
