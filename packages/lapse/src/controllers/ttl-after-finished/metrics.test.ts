import { VirtualClock } from '@lapse/base/virtualClock';
import { Registry } from '@lapse/runtime/metrics/registry';
import { expect, test } from 'vitest';
import { finishableMetrics } from './metrics.ts';
import { ObjectRecords } from './objectRecords.ts';

test('the rate limiter gauge shows Jobs only, not Pods', () => {
  const registry = new Registry();
  const metricsOf = (kind: string) =>
    finishableMetrics({
      registry,
      clock: new VirtualClock(),
      records: new ObjectRecords(),
      controller: kind,
      kind,
      concurrency: 4,
    });
  const [jobs, pods] = [metricsOf('Job'), metricsOf('Pod')];
  for (let i = 0; i < 4; i++) jobs.inUse.enter();
  pods.inUse.enter();
  pods.inUse.leave();
  expect(registry.text()).toContain('\nttl_after_finished_controller_rate_limiter_use 1\n');
  jobs.inUse.leave();
  expect(registry.text()).toContain('\nttl_after_finished_controller_rate_limiter_use 0.75\n');
});
