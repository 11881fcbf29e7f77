// The data files in the repository equal the output of the generators for the pinned Kubernetes version, byte for byte.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { generate } from './generate.ts';

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '..');

test('regenerating changes no file', async () => {
  const fresh = mkdtempSync(join(tmpdir(), 'lapse-generate-'));
  try {
    const paths = await generate(fresh);
    expect(paths).toHaveLength(6);
    for (const path of paths) {
      const isSame = readFileSync(join(fresh, path)).equals(readFileSync(join(REPOSITORY, path)));
      expect(isSame, `${path} is out of date: npm run generate`).toBe(true);
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
});
