// The official Python client on the embedded server, over its socket: it lists, pages, watches and writes, with the
// same results as on a real one. Without Python or access to its packages, the test says so and is skipped. In CI,
// where Python must exist, it fails.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';
import { ensurePython } from './python/environment.ts';

const python = await ensurePython();
const why = python.kind === 'missing' ? ` (skipped: ${python.why})` : '';

test.runIf(process.env.CI)('in CI the client is installed', () => {
  expect(python.kind, python.kind === 'missing' ? python.why : '').toBe('ready');
});

describe.skipIf(python.kind === 'missing')(`the official Python client${why}`, () => {
  let bed: Bed;
  let embedded: EmbeddedSocket;
  let seen: Record<string, unknown>;
  const run = async (kubeconfig: string): Promise<Record<string, unknown>> => {
    const script = join(import.meta.dirname, 'python', 'session.py');
    return python.kind === 'missing' ? {} : JSON.parse(await python.run(script, kubeconfig));
  };
  beforeAll(async () => {
    [bed, embedded] = await Promise.all([startBed(), startEmbeddedSocket()]);
    seen = await run(embedded.kubeconfig);
  });
  afterAll(async () => {
    await embedded?.close();
    await bed?.stop();
  });

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

  test('sees the same on a real server', async () => expect(await run(bed.kubeconfig)).toEqual(seen));

  test('no unexpected error occurred', () => expect(embedded.embedded.unexpected).toEqual([]));
});
