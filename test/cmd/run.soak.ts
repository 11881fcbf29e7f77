// `lapse run` with a reconcile that never ends: it is abandoned, and the process exits in time all the same.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServerProcess } from '../robustness/serverProcess.ts';
import { LapseProcess } from './lapseProcess.ts';

const ENDLESS = `
import { defineController, Namespace, settled } from 'lapse/runtime';
export default defineController({
  name: 'endless', for: Namespace,
  async reconcile(ctx) {
    ctx.log.info({}, 'begun');
    await new Promise((resolve) => setTimeout(resolve, 1e9));
    return settled();
  },
});`;

test('SIGTERM during a hanging reconcile: the process exits within about ten seconds', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'lapse-endless-'));
  const server = await startServerProcess(join(scratch, 'data'), ['--store', 'memory']);
  const file = join(scratch, 'endless.ts');
  writeFileSync(file, ENDLESS);
  const lapse = new LapseProcess(['run', '--module', file, '--metrics-bind-address', '0'], {
    KUBECONFIG: server.kubeconfig,
  });
  try {
    await lapse.says(/"begun"/);
    const asked = Date.now();
    expect(await lapse.end('SIGTERM')).toBe(0);
    expect(Date.now() - asked).toBeLessThan(10_000);
    expect(lapse.out).toMatch(/"stopped","finished":false/);
  } finally {
    lapse.child.kill('SIGKILL');
    await server.kill();
    rmSync(scratch, { recursive: true, force: true });
  }
});
