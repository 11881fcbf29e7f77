// A controller that waits: a ConfigMap labelled `lock` that nobody renewed for a day is marked as stale.

import {
  ConfigMap,
  defineController,
  hours,
  isDue,
  parseTime,
  plus,
  settled,
  waitUntil,
} from 'lapse/runtime';

export const staleLocks = defineController<ConfigMap>({
  name: 'stale-locks',
  for: ConfigMap,
  facts: ({ metadata }) => [metadata.labels?.['lock'], metadata.annotations?.['renewed']],
  rights: [{ group: '', resource: 'configmaps', verbs: ['patch'] }],
  async reconcile({ cache, key, now, client }) {
    const lock = cache.get(ConfigMap, key);
    if (lock?.metadata.labels?.['lock'] !== 'held') return settled();
    const renewed = lock.metadata.annotations?.['renewed'] ?? lock.metadata.creationTimestamp!;
    const end = plus(parseTime(renewed), hours(24));
    if (!isDue(end, now)) return waitUntil(end, 'nobody renews it');
    await client.patch(ConfigMap, key, { type: 'merge', patch: { metadata: { labels: { lock: 'stale' } } } });
    return settled();
  },
});
