// `lapse doctor` and `lapse simulate` on a real API server with RBAC: their output is correct, and they only read
// objects and their own rights.

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from './bed/bed.ts';

const lapse = join(import.meta.dirname, '../../bin/lapse');
const ACCOUNT = 'system:serviceaccount:default:half';
let bed: Bed;
let half: string;

beforeAll(async () => {
  bed = await startBed({ auditLog: true });
  await apply('half.yaml', HALF);
  const token = (await bed.kubectl('create', 'token', 'half')).trim();
  half = join(bed.directory, 'half.kubeconfig');
  const ca = readFileSync(bed.caFile, 'utf8');
  writeFileSync(half, renderKubeconfig({ server: bed.url, ca, token, name: 'half' }));
});
afterAll(() => bed?.stop());

/** May read Jobs everywhere, and delete them in one namespace. */
const HALF = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: half }
---
apiVersion: v1
kind: Namespace
metadata: { name: team }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: half }
rules:
  - { apiGroups: [batch], resources: [jobs], verbs: [list, watch] }
  - { apiGroups: [""], resources: [namespaces], verbs: [list] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: half }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: half }
subjects: [{ kind: ServiceAccount, namespace: default, name: half }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: half, namespace: team }
rules: [{ apiGroups: [batch], resources: [jobs], verbs: [delete, get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: half, namespace: team }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: half }
subjects: [{ kind: ServiceAccount, namespace: default, name: half }]
`;

async function apply(name: string, text: string): Promise<void> {
  const file = join(bed.directory, name);
  writeFileSync(file, text);
  await bed.kubectl('apply', '--server-side', '-f', file);
}

interface Run {
  readonly code: number;
  readonly stdout: string;
}

const run = (...args: string[]): Promise<Run> =>
  new Promise((resolve) => {
    execFile(lapse, args, { maxBuffer: 2 ** 26 }, (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout }),
    );
  });

interface Finding {
  readonly check: string;
  readonly level: string;
  readonly about: string;
  readonly message: string;
}

async function examine(kubeconfig: string, ...flags: string[]) {
  const { code, stdout } = await run('doctor', '--kubeconfig', kubeconfig, '-o', 'json', ...flags);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, of: (check: string) => findings.filter((finding) => finding.check === check), findings };
}

test('CRDs: missing ones are a problem; those that lapse prints are recognized as current', async () => {
  const before = await examine(bed.kubeconfig);
  expect(before.code).toBe(1);
  expect(before.of('kinds').every(({ message }) => message === 'does not exist')).toBe(true);
  expect(before.of('rights').every(({ level }) => level === 'ok')).toBe(true);

  await apply('crds.yaml', (await run('crds')).stdout);
  await bed.kubectl('wait', '--for=condition=Established', 'crd', '--all');
  const after = await examine(bed.kubeconfig);
  expect(after.findings.filter(({ level }) => level === 'problem')).toEqual([]);
  expect(after.of('kinds').map(({ level, message }) => `${level} ${message}`)).toEqual(
    after.of('kinds').map(() => expect.stringMatching(/^ok v1\w+, of this version of Lapse$/)),
  );
  expect(after.code).toBe(0);
  expect(after.of('clock')[0]).toMatchObject({ level: 'ok' });
  expect(after.of('server')[0]!.about).toMatch(/^v1\.\d+\.\d+/);
});

test('missing rights are named, with the namespaces in which they are granted', async () => {
  const { code, of } = await examine(half, '--controllers=ttl-after-finished');
  expect(code).toBe(1);
  const controller = of('rights').find(({ about }) => about === 'ttl-after-finished');
  expect(controller).toMatchObject({
    level: 'problem',
    message: 'missing: delete jobs.batch (only in team), get jobs.batch (only in team)',
  });
  const there = await examine(half, '--controllers=ttl-after-finished', '--namespace=team');
  expect(there.of('rights').find(({ about }) => about === 'ttl-after-finished')).toMatchObject({
    level: 'ok',
    message: 'all 4 rights in team',
  });
});

test('a snapshot of the cluster is simulated: Jobs keep their uids and are deleted on time', async () => {
  await bed.kubectl('create', 'job', 'report', '--image=busybox', '-n', 'team');
  await bed.kubectl(
    'patch',
    'job',
    'report',
    '-n',
    'team',
    '-p',
    '{"spec":{"ttlSecondsAfterFinished":3600}}',
  );
  const finished = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString().replace('.000', '');
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: finished });
  const status = {
    startTime: finished,
    completionTime: finished,
    succeeded: 1,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  };
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
  await bed.kubectl('patch', 'job', 'report', '-n', 'team', ...patch);
  const uid = await bed.kubectl('get', 'job', 'report', '-n', 'team', '-o', 'jsonpath={.metadata.uid}');

  const { code, stdout } = await run('simulate', '--kubeconfig', bed.kubeconfig, '--for', '2h', '-o', 'json');
  expect(code).toBe(0);
  const { deletions, objects } = JSON.parse(stdout) as {
    deletions: Record<string, string>[];
    objects: number;
  };
  expect(objects).toBeGreaterThan(50);
  const due = new Date(Date.parse(finished) + 3_600_000).toISOString().replace('.000', '');
  expect(deletions).toEqual([
    expect.objectContaining({ kind: 'Job', namespace: 'team', name: 'report', uid, at: due, gone: due }),
  ]);
  expect(await bed.kubectl('get', 'job', 'report', '-n', 'team', '-o', 'name')).toContain('report');
});

test('a user who may not read gets a simulation without those objects, and a message', async () => {
  const { code, stdout } = await run('simulate', '--kubeconfig', half, '--for', '1h', '-o', 'json');
  expect(code).toBe(3);
  const { notSimulated } = JSON.parse(stdout) as { notSimulated: string[] };
  expect(notSimulated).toContain('secrets could not be read: Forbidden');
});

test('kubectl finds its plugin', async () => {
  const PATH = `${dirname(lapse)}${delimiter}${process.env.PATH}`;
  const args = ['lapse', 'doctor', '--kubeconfig', bed.kubeconfig, '-o', 'yaml'];
  const out = await new Promise<string>((resolve) => {
    execFile(bed.bins.kubectl, args, { env: { ...process.env, PATH } }, (_, stdout) => resolve(stdout));
  });
  expect(out).toMatch(/^cluster: .*\nserver: https:/);
});

test('all requests were reads or reviews of rights', () => {
  const asked = readFileSync(bed.auditLogFile!, 'utf8')
    .split('\n')
    .filter((line) => line.includes(JSON.stringify(ACCOUNT)))
    .map((line) => JSON.parse(line) as { verb: string; objectRef?: { resource?: string } })
    .map(({ verb, objectRef }) => (verb === 'create' ? `create ${objectRef?.resource}` : verb));
  expect([...new Set(asked)].sort()).toEqual(['create selfsubjectaccessreviews', 'get', 'list']);
});
