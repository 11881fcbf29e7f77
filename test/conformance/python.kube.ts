// The official Python client on the embedded server, over its socket: it lists, pages, watches and writes as it would on a
// real one. Where Python or the way to its packages is missing, the test says so and is skipped.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';
import { ensurePython } from './python/environment.ts';

const python = await ensurePython();
const why = python.kind === 'missing' ? ` (skipped: ${python.why})` : '';

describe.skipIf(python.kind === 'missing')(`the official Python client${why}`, () => {
  let embedded: EmbeddedSocket;
  let seen: Record<string, unknown>;
  beforeAll(async () => {
    embedded = await startEmbeddedSocket();
    if (python.kind === 'missing') return;
    const script = join(import.meta.dirname, 'python', 'session.py');
    seen = JSON.parse(await python.run(script, embedded.kubeconfig));
  });
  afterAll(() => embedded?.close());

  const maps = (...numbers: number[]) => numbers.map((n) => `map-${n}`);

  test.each<[string, unknown]>([
    ['namespaces', ['default', 'kube-node-lease', 'kube-public', 'kube-system', 'python']],
    ['version', '1'],
    ['list', maps(0, 1, 2, 3, 4)],
    ['selected', maps(1, 3)],
    ['pages', [maps(0, 1), maps(2, 3), maps(4)]],
    [
      'watched',
      [
        ['MODIFIED', 'map-1'],
        // Changed so that it is not selected any more.
        ['DELETED', 'map-3'],
        ['ADDED', 'late'],
        ['DELETED', 'late'],
      ],
    ],
    ['initial', maps(0, 1, 2, 3, 4).map((name) => ['ADDED', name])],
    ['job', [6, 60, 1]],
    ['stale', { code: 409, reason: 'Conflict' }],
    ['invalid', { code: 422, reason: 'Invalid' }],
    ['missing', { code: 404, reason: 'NotFound' }],
    ['custom', { size: 7 }],
    ['applied', [9, 'python']],
    ['left', maps(1, 3)],
  ])('%s', (about, wanted) => expect(seen[about]).toEqual(wanted));

  test('nothing unexpected happened', () => expect(embedded.embedded.unexpected).toEqual([]));
});
