// Webhooks behind HTTPS on loopback: each path answers differently. Both servers call the same ones.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servingCertificate } from '@lapse/apiserver/authn/certificates';
import { realClock } from '@lapse/base/clock';
import type { JsonObject } from '@lapse/kube/api/json';

export interface Hooks {
  readonly url: string;
  /** base64 of the PEM, as in caBundle. */
  readonly caBundle: string;
  /** `path operation group/version.kind namespace/name dryRun` of every admission request, in order. */
  readonly asked: string[];
  close(): Promise<void>;
}

interface Question extends JsonObject {
  uid: string;
  operation: string;
  name?: string;
  namespace?: string;
  dryRun: boolean;
  kind: JsonObject;
  object: JsonObject | null;
}

const patch = (...operations: JsonObject[]): JsonObject => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
const labelled = (question: Question, name: string): JsonObject => {
  const metadata = (question.object?.['metadata'] ?? {}) as JsonObject;
  const path = '/metadata/labels';
  return metadata['labels'] === undefined
    ? patch({ op: 'add', path, value: { [name]: 'yes' } })
    : patch({ op: 'add', path: `${path}/${name}`, value: 'yes' });
};

/** One more than before, at each call. */
const counted = (question: Question): JsonObject => {
  const labels = ((question.object?.['metadata'] ?? {}) as JsonObject)['labels'] as JsonObject | undefined;
  const value = { ...labels, count: `${Number(labels?.['count'] ?? 0) + 1}` };
  return patch({ op: 'add', path: '/metadata/labels', value });
};
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' };

/** A response, or invalid text. */
const ANSWERS: Readonly<Record<string, (question: Question) => JsonObject | string>> = {
  '/allow': () => ({ allowed: true }),
  '/warn': () => ({ allowed: true, warnings: ['think twice', 'and once more'] }),
  '/deny': () => ({ allowed: false }),
  '/deny-why': () => ({ allowed: false, status: { message: 'not today', code: 422, reason: 'Invalid' } }),
  '/deny-teapot': () => ({ allowed: false, status: { message: 'short and stout', code: 418 } }),
  '/label-one': (question) => ({ allowed: true, ...labelled(question, 'one') }),
  '/label-two': (question) => ({ allowed: true, ...labelled(question, 'two') }),
  '/bad-patch': () => ({ allowed: true, ...patch({ op: 'remove', path: '/nothing' }) }),
  '/untyped-patch': () => ({ allowed: true, patch: 'W10=' }),
  '/wrong-uid': () => ({ allowed: true, uid: 'another' }),
  '/garbage': () => 'not json',
  '/deny-reason': () => ({ allowed: false, status: { reason: 'TooPurple' } }),
  '/patch-type': () => ({ allowed: true, patchType: 'JSONPatch' }),
  '/unreadable-patch': () => ({ allowed: true, patchType: 'JSONPatch', patch: 'e30=' }),
  '/idle-patch': () => ({ allowed: true, ...patch({ op: 'test', path: '/kind', value: 'ConfigMap' }) }),
  '/other-namespace': () => ({
    allowed: true,
    ...patch({ op: 'replace', path: '/metadata/namespace', value: 'default' }),
  }),
  '/count': (question) => ({ allowed: true, ...counted(question) }),
  '/bogus-manager': () => ({
    allowed: true,
    ...patch({ op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Bogus' }),
  }),
  '/other-manager': () => ({
    allowed: true,
    ...patch({ op: 'replace', path: '/metadata/managedFields/0/manager', value: 'other' }),
  }),
  '/same-owners': () => ({
    allowed: true,
    ...patch({ op: 'add', path: '/metadata/ownerReferences', value: [owner, owner] }),
  }),
  '/allow-created': () => ({ allowed: true }),
};

/** Paths whose answers have another status than 200. */
const STATUS: Readonly<Record<string, number>> = { '/allow-created': 201 };
/** Never answers. */
const SILENT = '/silent';

function describe(path: string, { operation, kind, namespace = '', name = '', dryRun }: Question): string {
  const { group, version, kind: what } = kind;
  return `${path} ${operation} ${group}/${version}.${what} ${namespace}/${name} ${dryRun}`;
}

export async function startHooks(): Promise<Hooks> {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-hooks-'));
  const tls = await servingCertificate(directory, ['127.0.0.1'], realClock.now());
  const asked: string[] = [];
  const server = createServer({ cert: tls.cert, key: tls.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url!.split('?')[0]!;
      const question = (JSON.parse(Buffer.concat(chunks).toString()) as { request: Question }).request;
      asked.push(describe(path, question));
      if (path === SILENT) return;
      const answer = ANSWERS[path]?.(question);
      if (answer === undefined) {
        response.writeHead(500).end('broken');
        return;
      }
      response.writeHead(STATUS[path] ?? 200, { 'content-type': 'application/json' });
      if (typeof answer === 'string') response.end(answer);
      else
        response.end(
          JSON.stringify({
            kind: 'AdmissionReview',
            apiVersion: 'admission.k8s.io/v1',
            response: { uid: question.uid, ...answer },
          }),
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(tls.ca).toString('base64'),
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
