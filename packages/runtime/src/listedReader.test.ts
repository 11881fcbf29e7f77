import { expect, test } from 'vitest';
import { listedReader } from './listedReader.ts';
import type { Source } from './source.ts';
import { ConfigMap, configMap, Secret } from './world.testkit.ts';

const source = {
  kind: ConfigMap,
  indexes: { byLabel: ({ metadata }: ConfigMap) => Object.values(metadata.labels ?? {}) },
} as unknown as Source;
const labelled = { ...configMap('b'), metadata: { ...configMap('b').metadata, labels: { tier: 'gold' } } };

test('reads listed objects by key, as a list and by index', () => {
  const reader = listedReader([{ source, objects: [configMap('a'), labelled] }]);
  expect(reader.isSynced(ConfigMap)).toBe(true);
  expect(reader.get(ConfigMap, { namespace: 'default', name: 'a' })?.metadata.name).toBe('a');
  expect(reader.get(ConfigMap, { namespace: 'default', name: 'c' })).toBeUndefined();
  expect([...reader.list(ConfigMap)].map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  expect(reader.byIndex(ConfigMap, 'byLabel', 'gold')).toEqual([labelled]);
});

test('rejects kinds that were not listed', () => {
  const reader = listedReader([{ source, objects: [] }]);
  expect(reader.isSynced(Secret)).toBe(false);
  expect(() => reader.list(Secret)).toThrow('v1 Secret was not listed');
});
