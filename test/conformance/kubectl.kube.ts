// kubectl prints the same for the embedded server and the real one: whole sessions are compared, except for ages, uids,
// versions and times. Deliberate differences are marked in the sessions with a reason.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';
import { compareOutcomes } from './kubectl/compare.ts';
import { runSession } from './kubectl/run.ts';
import { SESSIONS } from './kubectl/sessions.ts';

let bed: Bed;
let embedded: EmbeddedSocket;

beforeAll(async () => {
  [bed, embedded] = await Promise.all([startBed(), startEmbeddedSocket()]);
});
afterAll(async () => {
  await embedded?.close();
  await bed?.stop();
});

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

test.each(SESSIONS.map((s) => [s.name, s] as const))('%s', async (_, session) => {
  const binary = bed.bins.kubectl;
  const [real, ours] = await Promise.all([
    runSession({ binary, kubeconfig: bed.kubeconfig }, session),
    runSession({ binary, kubeconfig: embedded.kubeconfig }, session),
  ]);
  const differences = session.commands.map((command, i) => compareOutcomes(command, real[i]!, ours[i]!));
  expect(differences.filter((d) => d !== undefined).join('\n')).toBe('');
});

test('the typed create commands and the reviews sent protobuf', () => {
  const session = SESSIONS.find((s) => s.name === 'create-typed')!;
  const typed = session.commands.filter((c) => c.sendsProtobuf).length;
  const bodies = embedded.requests.filter((r) => r.method === 'POST' && r.path.includes('/k-create-typed/'));
  const namespaces = embedded.requests.filter(
    (r) => r.method === 'POST' && r.path.startsWith('/api/v1/namespaces?'),
  );
  expect(bodies.filter((r) => r.contentType !== PROTOBUF)).toEqual([]);
  expect(namespaces.length).toBe(SESSIONS.length + 1);
  expect(bodies.length).toBe(typed - 1);
  const reviews = embedded.requests.filter((r) => /\/self\w+reviews/.test(r.path));
  expect(reviews.length).toBeGreaterThan(1);
  expect(reviews.filter((r) => r.contentType !== PROTOBUF)).toEqual([]);
});

test('the embedded server had no internal error', () => {
  expect(embedded.embedded.unexpected).toEqual([]);
});
