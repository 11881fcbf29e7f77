// Test fixture: ConfigMaps with an expiry time in an annotation, and a minimal controller that deletes them.

import { type Instant, instant, isDue, type Millis, plus } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import { keyOf } from '@lapse/kube/api/kind';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { SimulationOptions } from './options.ts';
import { type Simulation, simulate } from './simulate.ts';

export const EXPIRES = 'test/expires';

/** A ConfigMap that expires at this time after the start. */
export const note = (name: string, after?: Millis, namespace = 'default'): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace,
    ...(after === undefined ? {} : { annotations: { [EXPIRES]: String(plus(VIRTUAL_START, after)) } }),
  },
});

/** A patch that changes the expiry time. */
export const endingAt = (after: Millis) => ({
  metadata: { annotations: { [EXPIRES]: String(plus(VIRTUAL_START, after)) } },
});

export const expiryOf = ({ metadata }: ConfigMap): Instant | undefined => {
  const text = metadata.annotations?.[EXPIRES];
  return text === undefined ? undefined : instant(Number(text));
};

async function reconcile(ctx: ReconcileContext): Promise<Outcome> {
  const object = ctx.cache.get(ConfigMap, ctx.key);
  const at = object === undefined ? undefined : expiryOf(object);
  if (object === undefined || at === undefined) return settled();
  if (!isDue(at, ctx.now)) return waitUntil(at, 'expiry');
  const { uid, resourceVersion } = object.metadata;
  const answer = await ctx.client.delete(ConfigMap, keyOf(object), {
    ifUid: uid!,
    ifVersion: resourceVersion!,
  });
  return answer.kind === 'conflict' ? again('changed') : settled();
}

export const expiring = (more: Partial<ControllerDefinition<ConfigMap>> = {}): ControllerDefinition =>
  defineController<ConfigMap>({
    name: 'expiring',
    for: ConfigMap,
    rights: [{ group: '', resource: 'configmaps', verbs: ['delete'] }],
    reconcile,
    ...more,
  }) as ControllerDefinition;

/** Runs a test in a new simulation and always closes it. */
export const simulated =
  (test: (simulation: Simulation) => Promise<void>, options: SimulationOptions = {}) =>
  async (): Promise<void> => {
    const simulation = await simulate({ compose: () => ({ controllers: [expiring()] }), ...options });
    try {
      await test(simulation);
    } finally {
      await simulation.close();
    }
  };
