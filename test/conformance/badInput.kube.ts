// The real server refuses bad input as recorded in fixtures/badInput.json, and keeps what only looks bad.

import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { ACCEPTED } from './badInput/accepted.ts';
import { loadAnswers } from './badInput/answers.ts';
import { BAD_REQUESTS } from './badInput/requests.ts';
import { prepareStage, type Stage } from './badInput/stage.ts';
import { expectAccepted, expectRefusal } from './badInput/suite.ts';
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

const answers = loadAnswers();

describe('refused as recorded', () => {
  test.each(Object.entries(BAD_REQUESTS))('%s', (rule, request) =>
    expectRefusal(stage, request, answers[rule]!),
  );
});

describe('kept exactly', () => {
  test.each(Object.entries(ACCEPTED))('%s', (_, request) => expectAccepted(target, request));
});
