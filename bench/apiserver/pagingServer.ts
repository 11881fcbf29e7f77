// pagingServer.ts COUNT: the embedded server in a separate process, with COUNT Jobs. Sends `{ url }` when they are
// stored. On `begin` it starts to measure its event loop, and on `end` it sends the pauses in milliseconds.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { listen } from '@lapse/apiserver/http/listen';
import { createServer } from '@lapse/apiserver/server';
import { job } from './job.ts';
import type { Pauses } from './paging.ts';

const NANOS = 1e6;
const count = Number(process.argv[2]);
const server = await createServer();
for (let i = 0; i < count; i++) {
  const name = `j-${String(i).padStart(6, '0')}`;
  const { status } = await server.handle({
    method: 'POST',
    path: '/apis/batch/v1/namespaces/default/jobs',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(job(name))),
  });
  if (status !== 201) throw new Error(`${name} was not stored: ${status}`);
}
const { url } = await listen(server.handle);
const delays = monitorEventLoopDelay({ resolution: 1 });
process.on('message', (message) => {
  if (message === 'begin') {
    delays.reset();
    delays.enable();
    process.send!('begun');
    return;
  }
  delays.disable();
  const pauses: Pauses = { longest: delays.max / NANOS, common: delays.percentile(99) / NANOS };
  process.send!(pauses);
});
process.send!({ url });
