// Random histories (create, update, patch, delete, list, get, watch, resume; preconditions, finalizers, selectors)
// agree with a simple model of the store, and watchers see every change once, in order. More in model.soak.ts.

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

const effort = { runs: 100, maxLength: 25, seed: 20_240_501 };

test('random histories of a built-in kind agree with the model', () =>
  agreesWithModel(target, configMaps, effort));
test('random histories of a custom kind agree with the model', () =>
  agreesWithModel(target, widgets, effort));
