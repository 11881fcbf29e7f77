// Lapse as published, compiled and on the Node it contains, in a separate folder; and a server started from it.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../../scripts/build.ts';

const root = join(import.meta.dirname, '../..');

export interface Published {
  readonly program: string;
  readonly remove: () => void;
}

export function publish(): Published {
  const folder = mkdtempSync(join(tmpdir(), 'lapse-bench-package-'));
  compile(join(folder, 'dist'));
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, 'bin/lapse'), join(folder, 'bin/lapse'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    program: join(folder, 'bin/lapse'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Serving {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Resolves when the server reports that it serves. */
export async function serve({ program }: Published, data: string, store: string): Promise<Serving> {
  const args = ['server', '--port', '0', '--data', data, '--store', store];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  const serving = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk) => {
      said += chunk;
      const found = /^serving (\S+)$/m.exec(said);
      if (found) resolve(found[1]!);
    });
  });
  const url = await Promise.race([serving, exited]);
  if (typeof url !== 'string') throw new Error(`lapse server ended with ${url} before it served:\n${said}`);
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
