// rawDeletes.ts KUBECONFIG URL CA PREFIX COUNT: deletes PREFIX-0 … PREFIX-(COUNT-1), 32 at a time, without
// preconditions.

import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';

const [kubeconfig = '', url = '', ca = '', prefix = '', count = '0'] = process.argv.slice(2);
const token = /"?token"?:\s*"?([^"\s,}]+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
const IN_FLIGHT = 32;
const dispatcher = new Agent({
  connect: { ca: readFileSync(ca, 'utf8') },
  connections: IN_FLIGHT,
  keepAliveTimeout: 60_000,
});
const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Foreground' });
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

let next = 0;
async function lane(): Promise<void> {
  for (let i = next++; i < Number(count); i = next++) {
    const path = `${url}/apis/batch/v1/namespaces/default/jobs/${prefix}-${i}`;
    const response = await request(path, { method: 'DELETE', dispatcher, headers, body, reset: false });
    await response.body.dump();
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode}`);
  }
}
await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
// Keeps running, so that its costs can be read.
setInterval(() => {}, 1000);
