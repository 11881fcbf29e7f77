import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '#manager/usage';
import { startEmbedded } from './embedded.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lapse-embedded-'));
});
afterEach(() => rmSync(data, { recursive: true }));
const at = (name: string): string => join(data, name);
const start = () =>
  startEmbedded({
    data,
    store: 'memory',
    host: '127.0.0.1',
    port: 0,
    kubeconfigOut: at('kubeconfig'),
    onUnexpected: () => {},
  });

test('tokens, keys and the kubeconfig are readable by their owner only, also if the files existed', async () => {
  writeFileSync(at('token'), 'of-an-older-version');
  writeFileSync(at('kubeconfig'), 'old');
  for (const name of ['token', 'kubeconfig']) chmodSync(at(name), 0o644);
  const embedded = await start();
  await embedded.close();
  expect(embedded.token).toBe('of-an-older-version');
  const names = ['token', 'kubeconfig', 'ca.key', 'server.key', 'front-proxy-ca.key', 'front-proxy.key'];
  for (const name of names) expect([name, statSync(at(name)).mode & 0o777]).toEqual([name, 0o600]);
});

test.each<[string, string | undefined]>([
  ['token', undefined],
  ['server.key', undefined],
  // The key of the CA is read when the server certificate is missing.
  ['ca.key', 'server.crt'],
  ['front-proxy-ca.key', 'front-proxy.crt'],
])('an empty %s is refused', async (name, missing) => {
  const embedded = await start();
  await embedded.close();
  writeFileSync(at(name), '');
  if (missing !== undefined) rmSync(at(missing));
  const refused = start();
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(`${name} is empty; remove it to create a new one`);
});

test.each(['token', 'kubeconfig', 'ca.key'])('a symbolic link as %s is refused', async (name) => {
  writeFileSync(at('theirs'), 'known to another user');
  writeFileSync(at('ca.crt'), 'theirs');
  symlinkSync(at('theirs'), at(name));
  const refused = start();
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(`${name} is a symbolic link`);
});
