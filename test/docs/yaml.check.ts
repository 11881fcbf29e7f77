// Every manifest and every configuration on a page is valid: for the embedded API server with all Lapse kinds, or for
// the schema of the configuration.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { createUserClient } from '@lapse/simulation/userClient';
import { FAMILIES } from 'lapse/controllers/registry';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { applyCrds, kindsOf } from 'lapse/manager/crds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { blocksOf } from './blocks.ts';

const root = join(import.meta.dirname, '../..');
const pages = [
  'README.md',
  ...globSync('docs/**/*.md', { cwd: root }),
  ...globSync('config/**/*.md', { cwd: root }),
]
  .map((path) => ({
    path,
    manifests: blocksOf(join(root, path))
      .filter(({ language }) => language === 'yaml')
      .flatMap(({ text }) =>
        parseAllDocuments(text).map((one) => ({ text: String(one), object: one.toJS() })),
      )
      .filter(({ object }) => object?.kind !== undefined) as { text: string; object: KubeObject }[],
  }))
  .filter(({ manifests }) => manifests.length > 0);

let server: ApiServer;
let client: Client;
beforeAll(async () => {
  server = await createServer();
  client = createClient({
    transport: inProcessTransport(server.handle),
    clock: realClock,
    random: systemRandom,
  });
  await applyCrds(client, realClock, kindsOf(FAMILIES));
});
afterAll(() => server?.close());

test('there are pages with manifests', () => {
  expect(pages.map(({ path }) => path)).toContain('docs/getting-started.md');
});

describe.each(pages)('$path', ({ path, manifests }) => {
  test.each(manifests)('$object.kind', async ({ text, object }) => {
    if (object.kind === 'LapseConfiguration') {
      const file = { name: path, text };
      expect(() => loadConfiguration(FAMILIES, { flags: {}, environment: {}, file })).not.toThrow();
      return;
    }
    const userClient = createUserClient(client);
    const { namespace } = object.metadata;
    if (namespace !== undefined)
      await userClient.apply({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace },
      } as KubeObject);
    // As with kubectl apply, a status is not written.
    const { status: _, ...applied } = object as KubeObject & { status?: unknown };
    await userClient.apply(applied as KubeObject);
  });
});

test('an invalid page is detected', async () => {
  const text = readFileSync(join(root, 'docs/getting-started.md'), 'utf8').match(
    /^```yaml\n(.*?)^```$/ms,
  )![1]!;
  const wrong = text.replace('mode: Enforce', 'mode: Sometimes');
  await expect(createUserClient(client).apply(wrong)).rejects.toThrow(/mode/);
});
