import { VirtualClock } from '@lapse/base/virtualClock';
import { Registry } from '@lapse/runtime/metrics/registry';
import { expect, test } from 'vitest';
import { Ledger } from './ledger.ts';
import { finishableMetrics } from './metrics.ts';

test('the share in use is that of Jobs, whatever Pods do meanwhile', () => {
  const registry = new Registry();
  const metricsOf = (kind: string) =>
    finishableMetrics({
      registry,
      clock: new VirtualClock(),
      ledger: new Ledger(),
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
