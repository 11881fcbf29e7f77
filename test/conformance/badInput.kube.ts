// The real server refuses bad input as recorded in fixtures/badInput.json, and stores unusual but valid input.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { prepareStage, type Stage } from './badInput/stage.ts';
import { checkAll } from './badInput/suite.ts';
import { bedTarget } from './replay/targets.ts';

let bed: Bed;
let target: ReturnType<typeof bedTarget>;
let stage: Stage;

beforeAll(async () => {
  bed = await startBed();
  target = bedTarget(bed);
  stage = await prepareStage(target);
});
afterAll(async () => {
  await target?.close();
  await bed?.stop();
});

test('every refusal is as recorded, and unusual but valid input is stored', async () => {
  const results = await checkAll(target, stage);
  expect([...results].filter(([, result]) => result.kind !== 'passed')).toEqual([]);
});
