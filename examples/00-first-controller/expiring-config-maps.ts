// Your first controller: a ConfigMap annotated `example.com/expires-after: 30s` goes 30 seconds after its creation.

import type { Services } from 'lapse/family';
import { type Decision, deletionMetrics, GuardedDeletes, outcomeOf } from 'lapse/lifecycle';
import {
  ConfigMap,
  defineController,
  type Instant,
  isDue,
  parseTime,
  plus,
  seconds,
  settled,
  waitUntil,
} from 'lapse/runtime';

/** When it ends; undefined: never. Every decision is in here, and needs no cluster to be tested. */
export function computeEnd({ metadata }: ConfigMap): Instant | undefined {
  const match = /^(\d{1,6})s$/.exec(metadata.annotations?.['example.com/expires-after'] ?? '');
  if (match === null || !metadata.creationTimestamp) return undefined;
  return plus(parseTime(metadata.creationTimestamp), seconds(Number(match[1])));
}

function decide(object: ConfigMap, now: Instant): Decision<Instant | undefined> {
  const end = computeEnd(object);
  return end !== undefined && isDue(end, now)
    ? { kind: 'delete', since: end }
    : { kind: 'keep', because: end };
}

const keep = (end: Instant | undefined) => (end === undefined ? settled() : waitUntil(end, 'expiry'));

export default function expiringConfigMaps(services: Services) {
  const { clock, guard, registry } = services;
  const name = 'expiring-config-maps';
  const metrics = deletionMetrics(registry, name, () => clock.now());
  const deletes = new GuardedDeletes({ clock, guard, metrics, ...services.deletion?.(name) });
  return defineController<ConfigMap>({
    name,
    for: ConfigMap,
    facts: computeEnd, // updates that do not move the end wake nobody
    rights: [{ group: '', resource: 'configmaps', verbs: ['get', 'delete'] }],
    async reconcile(ctx) {
      const object = ctx.cache.get(ConfigMap, ctx.key);
      if (object === undefined) return settled();
      const decision = decide(object, ctx.now);
      if (decision.kind === 'keep') return keep(decision.because);
      const { since } = decision;
      return outcomeOf(await deletes.delete(ctx, { kind: ConfigMap, object, since, decide }), keep);
    },
  });
}
