import { expect, test } from 'vitest';
import { startServer } from '../crd/testkit.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

test('an expired continue token returns 410 with a token to continue', async () => {
  const api = await startServer();
  const create = (name: string) => api.post(MAPS, { metadata: { name } });
  for (const name of ['a', 'c']) await create(name);
  const first = (await api.get(`${MAPS}?limit=1`)).body['metadata'] as { continue: string };
  await create('b');
  api.server.compact();
  const { status, body } = await api.get(`${MAPS}?limit=1&continue=${first.continue}`);
  expect([status, body['reason']]).toEqual([410, 'Expired']);
  const rest = (await api.get(`${MAPS}?continue=${(body['metadata'] as { continue: string }).continue}`))
    .body;
  const names = (rest['items'] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  expect(names).toEqual(['b', 'c']);
  await api.close();
});
