// The example, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { millis, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { normalize } from '@lapse/simulation/timeline';
import { rehearse } from 'lapse/public/testing';
import { expect, test } from 'vitest';
import expiringConfigMaps, { computeEnd } from './expiring-config-maps.ts';

const yaml = readFileSync(join(import.meta.dirname, 'config-map.yaml'), 'utf8');
const configMap = (after?: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'x',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: after === undefined ? {} : { 'example.com/expires-after': after },
  },
});

test.each([
  ['30s', 30_000],
  ['0s', 0],
  [undefined, undefined],
  ['', undefined],
  ['30', undefined],
  ['-1s', undefined],
  ['9999999s', undefined],
])('expires-after %s', (text, length) => {
  expect(computeEnd(configMap(text))).toBe(length === undefined ? undefined : VIRTUAL_START + length);
});

test('it ends on time, not before; extended, it ends later', async () => {
  const cluster = await rehearse(expiringConfigMaps);
  await cluster.apply(yaml);
  await cluster.timePasses(millis(29_999));
  expect(await cluster.get('configmap/short-lived')).toBeDefined();
  await cluster.patch('configmap/short-lived', {
    metadata: { annotations: { 'example.com/expires-after': '60s' } },
  });
  await cluster.timePasses(seconds(30));
  expect(await cluster.get('configmap/short-lived')).toBeDefined();
  await cluster.timePasses(millis(1));
  expect(await cluster.get('configmap/short-lived')).toBeUndefined();
  expect(normalize(cluster.timeline())).toBe(
    normalize(`
      +00:00  configmap/short-lived  waiting  until +00:30 (expiry)
      +00:29  configmap/short-lived  waiting  until +01:00 (expiry was extended)
      +01:00  configmap/short-lived  deleted  lag=0s
    `),
  );
  expect((await cluster.doubleRun()).writes).toEqual([]);
  await cluster.close();
});

test('a controller of sixty lines', () => {
  const text = readFileSync(join(import.meta.dirname, 'expiring-config-maps.ts'), 'utf8');
  expect(text.split('\n').length).toBeLessThanOrEqual(61);
});
