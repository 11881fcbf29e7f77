// server.ts COUNT [DIRECTORY]: the embedded API server with COUNT Cleaners that wait for their TTL, written through its
// API as kubectl and Lapse write them, and one that is due. Writes a kubeconfig, then prints `ready`, and `deleted` when
// the due Cleaner is deleted.

import { listen } from '@lapse/apiserver/http/listen';
import { createServer } from '@lapse/apiserver/server';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import type { HttpHandler } from '@lapse/kube/api/http';
import { createClient, objectOf } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { createUserClient } from '@lapse/simulation/userClient';
import { Cleaner, CleanerDefinition } from 'lapse/api/cleaner';
import { writeKubeconfig } from '../kubeconfig.ts';
import { dueCleaner, NAMESPACES, waitingCleaner, waitingStatus } from './waitingCleaner.ts';

const AT_ONCE = 16;
const [, , countText = '1000', directory = '.'] = process.argv;
const count = Number(countText);

const server = await createServer();
const client = createClient({
  transport: inProcessTransport(server.handle),
  clock: realClock,
  random: systemRandom,
  fieldManager: 'kubectl-client-side-apply',
});

/** What Lapse writes when it first reconciles the Cleaner. */
async function reportWaiting(cleaner: Cleaner): Promise<void> {
  const status = waitingStatus(cleaner, realClock.now());
  const options = { subresource: 'status', fieldManager: 'lapse' };
  const { name = '', namespace = '' } = cleaner.metadata;
  await client.patch(Cleaner, { name, namespace }, { type: 'merge', patch: { status } }, options);
}

async function fill(): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < count; i = next++)
      await reportWaiting(objectOf(await client.create(Cleaner, waitingCleaner(i))));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  objectOf(await client.create(Cleaner, dueCleaner));
}

await createUserClient(client).create([
  CleanerDefinition.crd,
  ...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
]);
await fill();
const due = `/namespaces/${dueCleaner.metadata.namespace}/cleaners/${dueCleaner.metadata.name}`;
const handle: HttpHandler = async (request) => {
  const response = await server.handle(request);
  const isDeleted = request.method === 'DELETE' && request.path.includes(due) && response.status === 200;
  if (isDeleted) process.stdout.write('deleted\n');
  return response;
};
const { url } = await listen(handle);
writeKubeconfig(directory, url);
process.stdout.write('ready\n');
