// A kind whose CRD is created while plans are made, and after the policy for it: the policy waits for the kind, and
// plans include its objects from then on.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Simulation } from '@lapse/simulation/simulate';
import type { Dice } from './planWorld.ts';
import { widgetOf, widgetsOf } from './widgets.ts';

const DEFINITION = widgetsOf('late.example.com');

export const drawLatePolicy = (dice: Dice): KubeObject =>
  ({
    apiVersion: 'lapse.dev/v1alpha1',
    kind: 'ClusterTTLPolicy',
    metadata: { name: 'late', uid: dice.uid(), generation: 1 },
    spec: {
      target: { apiVersion: 'late.example.com/v1', kind: 'Widget' },
      from: 'Created',
      ttl: `${1 + dice.below(90)}m`,
      mode: dice.pick(['Enforce', 'Enforce', 'DryRun']),
    },
  }) as unknown as KubeObject;

/** The CRD at the first call, and another object of the kind at each call. */
export async function bringLate(simulation: Simulation): Promise<void> {
  await simulation.apply(DEFINITION);
  await simulation.settle();
  simulation.user.discovery.invalidate();
  await simulation.apply(widgetOf(DEFINITION, `late-${simulation.clock.now()}`));
}
