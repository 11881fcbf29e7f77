// Any controller, in any language: it is given the address of an API server that lives as long as the test.

import { createServer, listen } from 'lapse/apiserver';
import { expect, test, vi } from 'vitest';
import { followTeams } from './team-config.ts';

test('a namespace with a team gets a ConfigMap that names it', async () => {
  const server = await createServer();
  const { url, close } = await listen(server.handle);
  const stop = new AbortController();
  const following = followTeams(url, stop.signal);

  const metadata = { name: 'shop', labels: { team: 'blue' } };
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/api/v1/namespaces`, { method: 'POST', headers, body });
  await vi.waitFor(async () => {
    const map = await fetch(`${url}/api/v1/namespaces/shop/configmaps/team`);
    expect(await map.json()).toMatchObject({ data: { team: 'blue' } });
  }, 10_000);

  stop.abort();
  await following;
  await server.close();
  await close();
});
