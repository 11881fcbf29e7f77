import { expect, test } from 'vitest';
import type { DoctorContext } from './finding.ts';
import { examineServer } from './reach.ts';

test.each([
  ['v1.29.0', 'ok', 'reached'],
  ['v1.36.2+k3s1', 'ok', 'reached'],
  ['v1.28.9', 'warning', 'reached; older than v1.29, the oldest that the chart installs on'],
  ['', 'warning', 'reached; its version is unknown'],
])('an API server of version "%s": %s', async (gitVersion, level, message) => {
  const body = Buffer.from(JSON.stringify({ gitVersion }));
  const client = { raw: async () => ({ status: 200, headers: {}, body }) };
  const [finding] = await examineServer({ client } as unknown as DoctorContext);
  expect(finding).toMatchObject({ level, message });
});
