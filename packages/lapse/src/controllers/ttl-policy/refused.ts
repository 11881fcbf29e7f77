// Kinds that no policy may delete, regardless of permissions.

import type { CompiledPolicy } from './compile.ts';
import type { Refusal } from './rights.ts';

/** Kinds of Lapse: a policy that deletes policies, keepers or requests would break their controllers. */
const OUR_GROUPS = new Set(['lapse.dev', 'cleaner.vtex.dev', 'state-snapshotter.deckhouse.io']);
const OUR_KINDS = new Set(
  [
    ['deckhouse.io', 'ObjectKeeper'],
    ['storage.deckhouse.io', 'VolumeCaptureRequest'],
    ['storage.deckhouse.io', 'VolumeRestoreRequest'],
    ['storage.deckhouse.io', 'ReplicatedStoragePool'],
    ['storage.deckhouse.io', 'LVMVolumeGroup'],
  ].map((pair) => pair.join('/')),
);
/** Leases are used for leader election. Events expire by themselves, and a policy on them would cause new Events. */
const TOO_BUSY = new Set(['/Event', 'events.k8s.io/Event', 'coordination.k8s.io/Lease']);

export function computeRefusedKind({ target }: CompiledPolicy): Refusal | undefined {
  const { group, kind } = target;
  const id = `${group}/${kind}`;
  const refuse = (why: string): Refusal => ({
    reason: 'KindRefused',
    message: `a policy cannot delete ${kind} objects: ${why}`,
  });
  if (TOO_BUSY.has(id)) return refuse('they expire by themselves or are used for leader election');
  return OUR_GROUPS.has(group) || OUR_KINDS.has(id) ? refuse('it is a kind of Lapse') : undefined;
}
