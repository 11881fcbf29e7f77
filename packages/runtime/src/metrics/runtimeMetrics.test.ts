import { instant, millis } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import { Registry } from './registry.ts';
import { requestMetrics } from './runtimeMetrics.ts';

test('counts requests by method and status code, including those without a response', () => {
  const registry = new Registry();
  const observe = requestMetrics(registry);
  expect(registry.text()).toContain('rest_client_requests_total{code="200",method="DELETE"} 0');
  const exchange = { path: '/x', stream: false, sentAt: instant(0), roundTrip: millis(3) };
  observe({ ...exchange, method: 'DELETE', status: 409 });
  observe({ ...exchange, method: 'GET', failure: 'timeout' });
  expect(registry.text()).toContain('rest_client_requests_total{code="409",method="DELETE"} 1');
  expect(registry.text()).toContain('rest_client_requests_total{code="<error>",method="GET"} 1');
});
