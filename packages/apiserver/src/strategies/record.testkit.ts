// Records the responses of kube-apiserver to the requests in fixtures/*.json: node
// packages/apiserver/src/strategies/record.testkit.ts [FAMILY…]

import { bedTarget } from '../../../../test/conformance/replay/targets.ts';
import { startBed } from '../../../../test/kube/bed/bed.ts';
import { families, loadFamily, type Probe, play, saveFamily } from './recorded.testkit.ts';

const bed = await startBed();
const target = bedTarget(bed);
const client = { send: target.request, token: bed.adminToken };
let count = 0;
try {
  const named = process.argv.slice(2);
  for (const family of named.length > 0 ? named : families()) {
    const recorded: Probe[] = [];
    for (const probe of loadFamily(family))
      recorded.push({ name: probe.name, steps: await play(client, probe, `recorded-${++count}`) });
    saveFamily(family, recorded);
  }
} finally {
  await target.close();
  await bed.stop();
}
