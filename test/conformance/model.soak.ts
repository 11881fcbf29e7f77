// The property of model.test.ts, with new seeds, longer and more often.

import { afterAll, beforeAll, test } from 'vitest';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { configMaps, defineWidgets, widgets } from './model/kinds.ts';
import { agreesWithModel } from './model/property.ts';

let target: Embedded;

beforeAll(async () => {
  target = await startEmbedded();
  await defineWidgets(target);
});
afterAll(() => target?.close());

const effort = { runs: 1500, maxLength: 60 };

test('random histories of a built-in kind agree with the model', () =>
  agreesWithModel(target, configMaps, effort));
test('random histories of a custom kind agree with the model', () =>
  agreesWithModel(target, widgets, effort));
