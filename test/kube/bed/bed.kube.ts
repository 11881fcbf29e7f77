// The bed itself: it starts, answers kubectl, obeys its options, and leaves nothing behind.

import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Bed, startBed } from './bed.ts';
import { KUBERNETES_VERSION } from './build.ts';

let bed: Bed;

beforeAll(async () => {
  bed = await startBed({ auditLog: true, controllers: ['namespace-controller'] });
});
afterAll(() => bed?.stop());

test('kubectl and the server report the version the bed is built from', async () => {
  const { clientVersion, serverVersion } = JSON.parse(await bed.kubectl('version', '-o', 'json'));
  expect(clientVersion.gitVersion).toBe(KUBERNETES_VERSION);
  expect(serverVersion.gitVersion).toBe(KUBERNETES_VERSION);
});

test('an object can be created and read, and the request is in the audit log', async () => {
  await bed.kubectl('create', 'namespace', 'smoke');
  expect(await bed.getJson('/api/v1/namespaces/smoke')).toMatchObject({ status: { phase: 'Active' } });
  expect(readFileSync(bed.auditLogFile!, 'utf8')).toContain('"requestURI":"/api/v1/namespaces');
});

test('the requested controllers run: a deleted namespace disappears', async () => {
  await bed.kubectl('create', 'namespace', 'short-lived');
  await bed.kubectl('delete', 'namespace', 'short-lived', '--timeout=60s');
  await expect(bed.getJson('/api/v1/namespaces/short-lived')).rejects.toThrow('404');
});

test('the user nobody is authenticated and may do nothing', async () => {
  const args = ['--token', bed.nobodyToken, '--kubeconfig=/dev/null', '--server', bed.url];
  const who = bed.kubectl('get', 'pods', ...args, `--certificate-authority=${bed.caFile}`);
  await expect(who).rejects.toThrow('User "nobody" cannot list resource "pods"');
});

test('a compacted history answers 410 to a list that asks for it', async () => {
  const list = (await bed.getJson('/api/v1/configmaps')) as { metadata: { resourceVersion: string } };
  const version = list.metadata.resourceVersion;
  const old = `/api/v1/configmaps?resourceVersion=${version}&resourceVersionMatch=Exact`;
  await bed.kubectl('create', 'configmap', 'later');
  await bed.getJson(old);
  await bed.compact();
  await vi.waitFor(() => expect(bed.getJson(old)).rejects.toThrow('410'), { timeout: 10_000 });
});

test('a server that cannot start reports the reason', async () => {
  const start = startBed({ extraApiserverArgs: ['--no-such-flag'] });
  await expect(start).rejects.toThrow('unknown flag: --no-such-flag');
});

test('stop ends every process and removes the data', async () => {
  const extra = await startBed();
  await extra.stop();
  expect(existsSync(extra.directory)).toBe(false);
  await expect(extra.getJson('/version')).rejects.toThrow();
});
