// The model agrees with the real server, so a comparison of the embedded server with the model is valid.

import { afterAll, beforeAll, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { configMaps, defineWidgets, widgets } from './model/kinds.ts';
import { agreesWithModel } from './model/property.ts';
import { bedTarget } from './replay/targets.ts';

let bed: Bed;
let target: ReturnType<typeof bedTarget>;

beforeAll(async () => {
  bed = await startBed();
  target = bedTarget(bed);
  await defineWidgets(target);
});
afterAll(async () => {
  await target?.close();
  await bed?.stop();
});

const effort = { runs: 60, maxLength: 30 };

test('random histories of a built-in kind agree with the model', () =>
  agreesWithModel(target, configMaps, effort));
test('random histories of a custom kind agree with the model', () =>
  agreesWithModel(target, widgets, effort));
