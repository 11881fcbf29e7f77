import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '@lapse/apiserver/http/listen';
import { createServer } from '@lapse/apiserver/server';
import { realClock } from '@lapse/base/clock';
import { seededRandom } from '@lapse/base/random';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { TTLPolicyStatus } from '#api/ttlPolicy';
import { TTLPolicy, TTLPolicyKind } from '#api/ttlPolicy';
import { APPROVAL_ANNOTATION, parseApproval } from '#limits/approval';
import { approveCommand } from './approveCommand.ts';

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

const STOPPED: TTLPolicyStatus = {
  due: 42,
  limits: {
    state: 'Exceeded',
    exceeded: {
      limit: 'maxDeletions',
      from: 'spec',
      allowed: 10,
      deletions: 10,
      due: 40,
      at: '2026-03-01T12:00:00Z',
      generation: 1,
      since: '2026-03-01T11:30:00Z',
      per: '1h',
    },
  },
};

async function policyWith(status: TTLPolicyStatus) {
  const server = await createServer();
  await server.importObject(TTLPolicyKind.crd);
  const listener = await listen(server.handle);
  const directory = mkdtempSync(join(tmpdir(), 'lapse-approve-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, renderKubeconfig({ name: 'here', server: listener.url }));
  cleanup.push(
    () => server.close(),
    () => listener.close(),
    () => rmSync(directory, { recursive: true }),
  );
  const client = createClient({
    transport: inProcessTransport(server.handle),
    clock: realClock,
    random: seededRandom(1),
  });
  await server.importObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ci' } });
  const key = { namespace: 'ci', name: 'runs' };
  await client.create(TTLPolicy, {
    apiVersion: 'lapse.dev/v1alpha1',
    kind: 'TTLPolicy',
    metadata: key,
    spec: { target: { apiVersion: 'v1', kind: 'ConfigMap' }, ttl: '1h', mode: 'Enforce' },
  });
  await client.patch(
    TTLPolicy,
    key,
    { type: 'merge', patch: { status } as never },
    { subresource: 'status' },
  );
  const approval = async () => {
    const text = (await client.get(TTLPolicy, key))?.metadata.annotations?.[APPROVAL_ANNOTATION];
    return text === undefined ? undefined : parseApproval(text);
  };
  return { approval, run: (...words: string[]) => run([...words, '--kubeconfig', kubeconfig]) };
}

async function run(words: readonly string[]): Promise<string> {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const command = approveCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
    await command.parseAsync([...words], { from: 'user' });
    return out.mock.calls.map(([text]) => text).join('');
  } finally {
    out.mockRestore();
  }
}

describe('lapse approve', () => {
  test('approves what is due now, for the current generation', async () => {
    const { run, approval } = await policyWith(STOPPED);
    expect(await run('ttlpolicy/runs', '-n', 'ci')).toBe(
      'approved 42 deletions by ttlpolicy/runs -n ci: 10 deletions, spec.limits.maxDeletions allows 10 per 1h (since 2026-03-01T11:30:00Z); 42 more objects are due\n',
    );
    expect(await approval()).toMatchObject({ generation: 1, deletions: 42 });
  });

  test('--deletions approves more, --dry-run writes nothing', async () => {
    const { run, approval } = await policyWith(STOPPED);
    expect(await run('ttlp', 'runs', '-n', 'ci', '--deletions', '60', '--dry-run')).toContain(
      'would approve 60',
    );
    expect(await approval()).toBeUndefined();
    await run('ttlp', 'runs', '-n', 'ci', '--deletions', '60');
    expect(await approval()).toMatchObject({ deletions: 60 });
  });

  test.each([
    [['ttlpolicy/runs', '-n', 'ci', '--deletions', '41'], /41 is less than the 42 objects that are due/],
    [['ttlpolicy/other', '-n', 'ci'], /ttlpolicy\/other -n ci does not exist/],
    [
      ['job/runs', '-n', 'ci'],
      /"job" has no limits to approve; expected one of ttlpolicy, clusterttlpolicy, cleaner/,
    ],
    [['ttlpolicy/runs', '-n', 'ci', '--deletions', 'all'], /expected a whole number/],
  ])('%j is refused', async (words, message) => {
    const { run, approval } = await policyWith(STOPPED);
    await expect(run(...words)).rejects.toThrow(message);
    expect(await approval()).toBeUndefined();
  });

  test('a policy that is not stopped needs no approval', async () => {
    const { run, approval } = await policyWith({ due: 3 });
    await expect(run('ttlpolicy/runs', '-n', 'ci')).rejects.toThrow('is not stopped at a limit');
    expect(await approval()).toBeUndefined();
  });
});
