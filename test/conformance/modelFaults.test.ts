// The model detects a broken server: one fault each, between the driver and a correct server.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { FAULTS } from './model/faults.ts';
import { configMaps } from './model/kinds.ts';
import { agreesWithModel } from './model/property.ts';

let target: Embedded;

beforeAll(async () => {
  target = await startEmbedded();
});
afterAll(() => target?.close());

test.each(Object.entries(FAULTS))('a server that %s is detected', async (_, fault) => {
  const effort = { runs: 200, maxLength: 25, seed: 1, shrink: false, patienceMs: 200 };
  await expect(agreesWithModel(fault(target), configMaps, effort)).rejects.toThrow('Property failed');
});
