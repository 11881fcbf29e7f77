// The controller of the trash: removes chunks when their time is over, and the oldest ones if there are too many. It
// reads only the metadata of the Secrets.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import { formatTime, type Instant } from '@lapse/base/instant';
import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type ControllerDefinition, defineController, type Right } from '@lapse/runtime/definition';
import type { Registry } from '@lapse/runtime/metrics/registry';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { type Decision, outcomeOf } from '#deletion/deletion';
import { regarding } from '#deletion/deletionCounter';
import { Expirer } from '#deletion/expirer';
import { deletionMetrics } from '#deletion/metrics';
import { objectId } from '#deletion/ownDeletions';
import type { SkewGuard } from '#deletion/skewGuard';
import { type ChunkDecision, decideChunks, type RetentionRule } from './retention.ts';
import { chunkInfoOf, TRASH_SELECTOR } from './secretStore.ts';

const NAME = 'trash';
const Chunk = metadataOf(Secret) as Kind;

/** In the namespace of the trash only. */
export const TRASH_RIGHTS: readonly Right[] = [
  { group: '', resource: 'secrets', verbs: ['create', 'delete', 'list', 'watch'] },
];

export interface RetentionOptions {
  readonly clock: Clock;
  readonly guard: SkewGuard;
  readonly registry: Registry;
  readonly namespace: string;
  readonly rule: RetentionRule;
}

export function retentionController(options: RetentionOptions): ControllerDefinition {
  const { clock, guard, registry, namespace, rule } = options;
  const expirer = new Expirer<ChunkDecision>({
    clock,
    guard,
    metrics: deletionMetrics(registry, NAME, () => guard.now()),
    onConflict: 'leave',
  });
  const dropped = registry
    .counter('lapse_trash_dropped_total', 'Chunks that were removed early because of trash.maxBytes.')
    .with();
  return defineController({
    name: NAME,
    for: Chunk,
    namespace,
    labelSelector: TRASH_SELECTOR,
    concurrency: 1,
    rights: TRASH_RIGHTS,
    onPause: () => expirer.pause(),
    onStandbyChange: (key, object) => expirer.observeOnStandby(objectId(Chunk, key), object),
    async reconcile(ctx) {
      expirer.resume();
      return reconcileChunks(ctx, { expirer, rule, onDropped: () => dropped.inc() });
    },
  });
}

interface Reconcile {
  readonly expirer: Expirer<ChunkDecision>;
  readonly rule: RetentionRule;
  readonly onDropped: () => void;
}

/** Decides about all chunks: a new one may be what makes the oldest one too many. */
async function reconcileChunks(ctx: ReconcileContext, reconcile: Reconcile): Promise<Outcome> {
  const { expirer, rule } = reconcile;
  const object = ctx.cache.get(Chunk, ctx.key);
  const observed = expirer.observe(ctx, { kind: Chunk, id: objectId(Chunk, ctx.key), object });
  if (observed.kind === 'terminating') return observed.outcome;
  if (object === undefined || observed.kind !== 'alive') return settled();
  const all = [...ctx.cache.list(Chunk)].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const decisions = decideChunks(all.map(chunkInfoOf), rule, ctx.now);
  for (const other of all) {
    const decision = decisions.get(other.metadata.name ?? '');
    const isOwn = other.metadata.name === ctx.key.name;
    if (decision?.kind !== 'crowded' || isOwn || expirer.isOwn(idOf(other), other.metadata.uid ?? ''))
      continue;
    await removeChunk(ctx, other, decision, reconcile);
  }
  const decision = decisions.get(ctx.key.name);
  return decision === undefined ? settled() : applyTo(ctx, object, decision, reconcile);
}

const idOf = ({ metadata: { namespace = '', name = '' } }: KubeObject): string =>
  objectId(Chunk, { namespace, name });

function applyTo(
  ctx: ReconcileContext,
  object: KubeObject,
  decision: ChunkDecision,
  reconcile: Reconcile,
): Promise<Outcome> | Outcome {
  switch (decision.kind) {
    case 'keep':
      return waitUntil(decision.until, 'keep');
    case 'expired':
    case 'crowded':
      return removeChunk(ctx, object, decision, reconcile);
    default:
      return assertNever(decision);
  }
}

/** An Event and a metric report a chunk that is removed before its time. */
async function removeChunk(
  ctx: ReconcileContext,
  object: KubeObject,
  because: Exclude<ChunkDecision, { kind: 'keep' }>,
  { expirer, rule, onDropped }: Reconcile,
): Promise<Outcome> {
  const since: Instant = because.kind === 'expired' ? because.since : ctx.now;
  if (because.kind === 'crowded') {
    const note = `the trash is larger than ${rule.maxBytes} bytes (trash.maxBytes): ${chunkInfoOf(object).objects} saved objects are removed before ${formatTime(because.until)}`;
    const report = { type: 'Warning', reason: 'TrashFull', action: 'Delete', note } as const;
    ctx.event(regarding(Chunk, object), report);
    onDropped();
  }
  const decide = (): Decision<undefined, ChunkDecision> => ({ kind: 'delete', since, because });
  const deletion = await expirer.expire(ctx, { kind: Chunk, object, since, because, decide });
  return outcomeOf(deletion, () => again('changed'));
}
