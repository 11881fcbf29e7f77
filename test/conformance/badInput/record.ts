// Records the answer of the real server to each bad request: node test/conformance/badInput/record.ts

import { writeFileSync } from 'node:fs';
import { startBed } from '../../kube/bed/bed.ts';
import { bedTarget } from '../replay/targets.ts';
import { BAD_REQUESTS } from './requests.ts';
import { normalise, RESPONSES_FILE } from './responses.ts';
import { prepareStage } from './stage.ts';

const bed = await startBed();
const target = bedTarget(bed);
const stage = await prepareStage(target);
const answers: Record<string, unknown> = {};
for (const [rule, request] of Object.entries(BAD_REQUESTS)) {
  answers[rule] = normalise(await stage.send(request));
}
writeFileSync(RESPONSES_FILE, `${JSON.stringify(answers, null, 1)}\n`);
await target.close();
await bed.stop();
