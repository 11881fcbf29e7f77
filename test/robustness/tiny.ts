// The smallest complete subject: ConfigMaps that reach their final state at one instant and expire at another, both
// stored in them. It is built of the same parts as the real controllers, and can be broken on purpose, one guarantee at
// a time, to test the check of that guarantee.

import { type Instant, instant, isDue, millis, plus } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Composition, Process } from '@lapse/simulation/process';
import { type Deletion, outcomeOf } from 'lapse/deletion/deletion';
import { type Decision, GuardedDeletes } from 'lapse/deletion/guardedDelete';
import { deletionMetrics } from 'lapse/deletion/metrics';
import { createSkewGuard } from 'lapse/deletion/skewGuard';
import type { Subject } from './subject.ts';

/**
 * - `early`: five seconds before the deadline counts as due
 * - `blind`: sends no resourceVersion precondition
 * - `byName`: sends neither resourceVersion nor uid
 * - `forgetful`: treats a refusal as a deletion
 * - `rewriting`: records in a finished object that it was seen again
 * - `restless`: writes the final state again at every reconcile
 */
export type Flaw = 'early' | 'blind' | 'byName' | 'forgetful' | 'rewriting' | 'restless';

const ENDS = 'ends';
const DONE_AT = 'doneAt';

type KeptBecause = Instant | 'never';

const timeIn = ({ data }: ConfigMap, field: string): Instant | undefined =>
  data?.[field] === undefined ? undefined : instant(Number(data[field]));

const decideWith =
  (early: number) =>
  (object: ConfigMap, now: Instant): Decision<KeptBecause> => {
    const ends = timeIn(object, ENDS);
    if (object.metadata.deletionTimestamp !== undefined || ends === undefined)
      return { kind: 'keep', because: 'never' };
    const at = plus(ends, millis(-early));
    return isDue(at, now) ? { kind: 'delete', since: at } : { kind: 'keep', because: at };
  };

const kept = (because: KeptBecause): Outcome => (because === 'never' ? settled() : waitUntil(because, 'end'));

function createReconcile(process: Process, deletes: GuardedDeletes, flaw: Flaw | undefined) {
  const decide = decideWith(flaw === 'early' ? 5000 : 0);

  /** Without a guard, as the flaw requires. */
  async function deleteCarelessly(ctx: ReconcileContext, object: ConfigMap): Promise<Outcome> {
    const { uid } = object.metadata;
    const guard = flaw === 'blind' ? { ifUid: uid! } : {};
    const answer = await ctx.client.delete(ConfigMap, keyOf(object), guard);
    return answer.kind === 'conflict' ? again('changed') : settled();
  }

  async function end(ctx: ReconcileContext, object: ConfigMap, since: Instant): Promise<Outcome> {
    if (flaw === 'blind' || flaw === 'byName') return deleteCarelessly(ctx, object);
    const deletion: Deletion<KeptBecause> = await deletes.delete(ctx, {
      kind: ConfigMap,
      object,
      since,
      decide,
    });
    return outcomeOf(deletion, kept);
  }

  async function finish(ctx: ReconcileContext, object: ConfigMap): Promise<Outcome> {
    const more = flaw === 'rewriting' ? { seen: String(process.clock.now()) } : {};
    const answer = await ctx.client.patch(
      ConfigMap,
      keyOf(object),
      { type: 'merge', patch: { data: { phase: 'Done', ...more } } },
      { ifVersion: object.metadata.resourceVersion! },
    );
    return answer.kind === 'conflict' ? again('changed') : settled();
  }

  async function look(ctx: ReconcileContext): Promise<Outcome> {
    const object = ctx.cache.get(ConfigMap, ctx.key);
    if (object === undefined) return settled();
    const decision = decide(object, ctx.now);
    if (decision.kind === 'delete') return end(ctx, object, decision.since);
    const doneAt = timeIn(object, DONE_AT);
    if (doneAt === undefined || object.metadata.deletionTimestamp !== undefined)
      return kept(decision.because);
    const isDone = object.data?.phase === 'Done' && flaw !== 'restless' && flaw !== 'rewriting';
    if (isDone) return kept(decision.because);
    if (!isDue(doneAt, ctx.now)) return waitUntil(doneAt, 'work');
    const written = await finish(ctx, object);
    return written.kind === 'settled' ? kept(decision.because) : written;
  }

  return async (ctx: ReconcileContext): Promise<Outcome> => {
    if (flaw !== 'forgetful') return look(ctx);
    const outcome = await look(ctx).catch(() => settled());
    return outcome.kind === 'waitUntil' ? outcome : settled();
  };
}

const composeWith =
  (flaw: Flaw | undefined) =>
  (process: Process): Composition => {
    const { clock, skew, client, registry } = process;
    const guard = createSkewGuard({ clock, skew, raw: client.raw, registry });
    const metrics = deletionMetrics(registry, 'tiny', () => clock.now());
    const deletes = new GuardedDeletes({ clock, guard, metrics });
    const controller = defineController<ConfigMap>({
      name: 'tiny',
      for: ConfigMap,
      namespace: 'default',
      facts: ({ metadata, data }) => [metadata.deletionTimestamp, data],
      rights: [{ group: '', resource: 'configmaps', verbs: ['get', 'patch', 'delete'] }],
      reconcile: createReconcile(process, deletes, flaw),
    });
    return { controllers: [controller as ControllerDefinition], time: guard };
  };

export const tiny = (flaw?: Flaw): Subject => ({
  name: flaw === undefined ? 'tiny' : `tiny, ${flaw}`,
  kind: ConfigMap,
  resource: 'configmaps',
  compose: composeWith(flaw),
  create: (name, ends, now) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data: { [ENDS]: String(ends), [DONE_AT]: String(now + Math.floor((ends - now) / 2)) },
  }),
  moveEnd: (_object, ends) => ({ data: { [ENDS]: String(ends) } }),
  deadlineOf: (object) => timeIn(object as ConfigMap, ENDS),
  isTerminal: (object) => (object as ConfigMap).data?.phase === 'Done',
});
