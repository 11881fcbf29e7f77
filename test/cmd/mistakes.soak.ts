// Every invalid file, with every command that reads files. mistakes.test.ts has a sample.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ODD_FILES, runQuietly, writeOddFile } from './mistakes.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-mistakes-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test.each(Object.keys(ODD_FILES))('a file with %s', async (name) => {
  const path = writeOddFile(scratch, name);
  for (const args of [
    ['plan', path],
    ['plan', '-o', 'html', path],
    ['plan', '--config', path, path],
    ['explain', 'job/a', '-f', path],
    ['explain', 'ttlpolicy/p', '-f', path],
    ['simulate', '--for', '1h', path],
  ]) {
    const { code, said } = await runQuietly(args);
    expect(said, args.join(' ')).not.toMatch(/a bug in lapse/);
    expect([0, 2, 3], said).toContain(code);
    if (code === 2) expect(said).not.toMatch(/^\s+at /m);
  }
});
