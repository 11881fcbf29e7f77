// Simulates a CSI driver that takes snapshots. Every VolumeSnapshotContent without a status becomes ready one second after
// its creation, or follows the annotation on it or on its class (see script.ts).

import { assertNever } from '@lapse/base/assertNever';
import { formatTime, type Instant, isDue, type Millis, parseTime, plus } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import { VolumeSnapshotClass, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { type Outcome, settled, terminal, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { patchStatus } from './patchStatus.ts';
import { parseScript } from './script.ts';

export const SNAPSHOT_SCRIPT = 'simulation.lapse.dev/snapshot';
const SIZE = 1024 ** 3;

const nanosOf = (at: Instant): number => at * 1_000_000;

/** Its own annotation, otherwise that of its class, because controllers that create contents do not set the annotation. */
function scriptOf(content: VolumeSnapshotContent, ctx: ReconcileContext): string | undefined {
  const own = content.metadata.annotations?.[SNAPSHOT_SCRIPT];
  const className = content.spec?.volumeSnapshotClassName;
  if (own !== undefined || className === undefined) return own;
  return ctx.cache.get(VolumeSnapshotClass, { name: className })?.metadata.annotations?.[SNAPSHOT_SCRIPT];
}

async function reconcile(ctx: ReconcileContext): Promise<Outcome> {
  const content = ctx.cache.get(VolumeSnapshotContent, ctx.key);
  if (
    content === undefined ||
    content.status !== undefined ||
    content.metadata.deletionTimestamp !== undefined
  )
    return settled();
  const script = parseScript(SNAPSHOT_SCRIPT, scriptOf(content, ctx));
  const created = parseTime(content.metadata.creationTimestamp ?? '');
  const write = (after: Millis, status: object): Outcome | Promise<Outcome> => {
    const at = plus(created, after);
    return isDue(at, ctx.now)
      ? patchStatus(ctx, VolumeSnapshotContent, keyOf(content), { of: content, status })
      : waitUntil(at, 'snapshot');
  };
  switch (script.kind) {
    case 'never':
      return settled();
    case 'invalid':
      return terminal('InvalidScript', script.problem);
    case 'fail':
      return write(script.after, {
        readyToUse: false,
        error: { message: script.message, time: formatTime(ctx.now) },
      });
    case 'succeed':
      return write(script.after, {
        readyToUse: true,
        creationTime: nanosOf(ctx.now),
        restoreSize: SIZE,
        snapshotHandle: `simulated-${content.metadata.uid}`,
      });
    default:
      return assertNever(script);
  }
}

export const csiSnapshotter = (): ControllerDefinition =>
  defineController<VolumeSnapshotContent>({
    name: 'csi-snapshotter',
    for: VolumeSnapshotContent,
    facts: ({ metadata, status }) => [metadata.annotations?.[SNAPSHOT_SCRIPT], status === undefined],
    watches: [{ kind: VolumeSnapshotClass, to: () => [] }],
    rights: [
      { group: VolumeSnapshotContent.group, resource: 'volumesnapshotcontents/status', verbs: ['patch'] },
    ],
    reconcile,
  }) as ControllerDefinition;
