// Attacks on the sockets of the process, and on the files of a local server.

import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { readPrivate, writePrivate } from '@lapse/base/privateFile';
import { selfSigned } from '@lapse/kube/client/certificate.testkit';
import { listen, text } from '@lapse/runtime/host/listen';
import { isVerified } from '@lapse/runtime/host/peer';
import { requireSafeResumption } from '@lapse/runtime/host/resumption';
import { REVIEW_BOUNDS } from 'lapse/manager/webhookHost';
import { expect } from 'vitest';
import type { Attack, AttackCluster } from '../attack.ts';
import { forgedReview } from '../forgedReview.ts';
import { forkReviewHost, send } from '../reviewHost.ts';

const MIB = 1 << 20;
const MOST_GROWTH = 64 * MIB;

/** A Pod needs no credentials to send this: the Service of the webhook is reachable from the whole cluster. */
function post(url: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = tlsRequest(
      url,
      { method: 'POST', rejectUnauthorized: false, agent: new Agent() },
      (answer) => {
        let text = '';
        answer.on('data', (chunk) => (text += chunk));
        answer.on('end', () => resolve({ status: answer.statusCode!, text }));
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

const REVIEWS = [
  ['ttl-policy-author', 'ttlpolicies'],
  ['cleaner-author', 'cleaners'],
  ['ttl-policy', 'ttlpolicies'],
  ['cleaner', 'cleaners'],
] as const;

/** The paths in the configurations; only the administrator can read them. */
async function secretPaths({ userClient }: AttackCluster): Promise<string[]> {
  const kinds = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'];
  const found = await Promise.all(kinds.map((kind) => userClient.get(`${kind}/lapse`)));
  return [...JSON.stringify(found).matchAll(/\/review\/([0-9a-f]{64})\//g)].map(([, secret]) => secret!);
}

const signingOracle: Attack = {
  name: 'the webhook answers no review that does not come from the API server',
  on: 'cluster',
  attacker: 'any Pod, without credentials',
  steps: 'POST AdmissionReviews in the name of an administrator to the author and the validating webhooks',
  mustNotObtain: 'a signature of another author, or an answer to the question what another user may do',
  async run(cluster) {
    for (const [name, resource] of REVIEWS)
      for (const path of [`/review/${name}`, `/review/${'0'.repeat(64)}/${name}`, `/review//${name}`]) {
        const answer = await post(`${cluster.webhookUrl}${path}`, forgedReview(resource));
        expect(answer, path).toEqual({ status: 404, text: 'not found\n' });
      }
    // The same review is answered with the secret path, so the refusals above have no other reason.
    const [secret] = await secretPaths(cluster);
    const url = `${cluster.webhookUrl}/review/${secret}/ttl-policy-author`;
    expect((await post(url, forgedReview('ttlpolicies'))).status).toBe(200);
  },
};

const pathIsSecret: Attack = {
  name: 'the secret path of the webhook is in the webhook configurations alone',
  on: 'cluster',
  attacker: 'a user with every right in one namespace, who also reads the log of Lapse',
  steps: 'read the configurations and the log; write a policy that the webhook refuses',
  mustNotObtain: 'the path',
  async run(cluster) {
    const secrets = await secretPaths(cluster);
    expect(new Set(secrets).size).toBe(1);
    const namespace = await cluster.namespace('path-is-secret');
    const user = await cluster.user(namespace, 'owner', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    ]);
    await expect(user.userClient.get('validatingwebhookconfiguration/lapse')).rejects.toThrow(/forbidden/);
    const policy = {
      apiVersion: 'lapse.dev/v1alpha1',
      kind: 'TTLPolicy',
      metadata: { namespace, name: 'bad' },
      spec: { target: { apiVersion: 'v1', kind: 'ConfigMap' }, ttl: 'soon', from: 'Created' },
    };
    const refusal = await user.userClient.create(policy as never).then(
      () => 'created',
      (error: Error) => error.message,
    );
    expect(refusal).toMatch(/spec.ttl/);
    for (const shown of [refusal, cluster.lapse.out]) expect(shown).not.toContain(secrets[0]);
  },
};

const oversizedBodies: Attack = {
  name: 'bodies to the webhook are not read from strangers, and are bounded from the API server',
  on: 'process',
  attacker: 'any Pod; and a user whose objects the API server sends for review',
  steps: '40 bodies of 3 MiB at once to a wrong path, then to the right one, some with millions of values',
  mustNotObtain: 'more than 64 MiB of memory, or more reviews at once than the bound',
  async run() {
    const host = await forkReviewHost();
    const padded = Buffer.alloc(REVIEW_BOUNDS.maxBody, ' ');
    padded.write(forgedReview('ttlpolicies'));
    const nested = Buffer.alloc(REVIEW_BOUNDS.maxBody, '[');
    const large = Buffer.alloc(REVIEW_BOUNDS.maxBody + 1, ' ');
    const attempts: [string, Buffer, readonly number[]][] = [
      ['/review/wrong/ttl-policy', padded, [0, 404]],
      [host.path, large, [0, 413]],
      [host.path, padded, [0, 200, 429]],
      [host.path, nested, [0, 400, 429]],
    ];
    try {
      const before = await host.report();
      for (const [path, body, expected] of attempts) {
        const statuses = await Promise.all(Array.from({ length: 40 }, () => send(host.port, path, body)));
        expect(statuses.filter((status) => !expected.includes(status))).toEqual([]);
      }
      const after = await host.report();
      expect(after.peak - before.peak).toBeLessThan(MOST_GROWTH);
      expect(after.mostAtOnce).toBeLessThanOrEqual(REVIEW_BOUNDS.maxInFlight);
      expect(after.metrics).toMatch(/lapse_webhook_refused_total\{reason="path"\} 40/);
    } finally {
      host.close();
    }
  },
};

const resumedSession: Attack = {
  name: 'a resumed TLS session does not authenticate on the read API',
  on: 'process',
  attacker: 'any Pod, without a client certificate',
  steps:
    'connect to the read API twice, the second time with the TLS 1.3 session of the first, with headers of a front proxy',
  mustNotObtain: 'the identity that the headers name',
  async run() {
    const own = selfSigned('own', ['localhost']);
    const certificate = { current: () => own, onChange: () => () => {} };
    const clientAuthority = { current: () => own.cert, onChange: () => () => {} };
    const host = await listen({
      certificate,
      clientAuthority,
      port: 0,
      address: '127.0.0.1',
      handle: async (_request, peer) => text(200, `verified=${peer.verified}`),
    });
    const visit = (session?: Buffer): Promise<{ body: string; session?: Buffer }> =>
      new Promise((resolve, reject) => {
        let [body, offered] = ['', undefined as Buffer | undefined];
        const socket = connect({
          ...{
            host: '127.0.0.1',
            port: host.port,
            rejectUnauthorized: false,
            minVersion: 'TLSv1.3' as const,
          },
          ...(session === undefined ? {} : { session }),
        });
        socket.on('session', (next: Buffer) => (offered = next));
        socket.on('data', (chunk) => (body += chunk));
        socket.on('error', reject);
        socket.on('close', () => resolve({ body, ...(offered === undefined ? {} : { session: offered }) }));
        socket.write('GET / HTTP/1.1\r\nhost: x\r\nx-remote-user: admin\r\nconnection: close\r\n\r\n');
      });
    try {
      const first = await visit();
      expect(first.body).toContain('verified=false');
      expect((await visit(first.session)).body).toContain('verified=false');
    } finally {
      await host.close();
    }
    // As Node 20 reports such a connection.
    const resumed = {
      authorized: true,
      isSessionReused: () => true,
      getPeerX509Certificate: () => undefined,
    };
    expect(isVerified(resumed)).toBe(false);
    await expect(requireSafeResumption(own, async () => true)).rejects.toThrow(/Node/);
  },
};

const plantedFiles: Attack = {
  name: 'credentials are not written through planted links, nor read from them or from empty files',
  on: 'process',
  attacker: 'another user of the machine who can write to the directory',
  steps:
    'plant a symbolic link, a file that all can read, or an empty file where lapse server keeps tokens and keys',
  mustNotObtain: 'a credential, or a server whose key is known',
  run() {
    const directory = mkdtempSync(join(tmpdir(), 'lapse-attack-'));
    const at = (name: string) => join(directory, name);
    try {
      writeFileSync(at('theirs'), 'known', { mode: 0o644 });
      symlinkSync(at('theirs'), at('token'));
      expect(() => writePrivate(at('token'), 'secret')).toThrow(/symbolic link/);
      expect(() => readPrivate(at('token'))).toThrow(/symbolic link/);
      expect(readFileSync(at('theirs'), 'utf8')).toBe('known');
      writeFileSync(at('open'), 'old', { mode: 0o666 });
      writePrivate(at('open'), 'secret');
      expect(statSync(at('open')).mode & 0o777).toBe(0o600);
      writeFileSync(at('empty'), '');
      expect(() => readPrivate(at('empty'))).toThrow(/is empty/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

export const hosts: readonly Attack[] = [
  signingOracle,
  pathIsSecret,
  oversizedBodies,
  resumedSession,
  plantedFiles,
];
