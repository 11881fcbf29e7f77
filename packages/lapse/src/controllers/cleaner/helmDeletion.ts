// The part of a recorded decision that uninstalls a Helm release: connects the steps of helm.ts with the rights, the
// budget and the progress of the decision, and describes the result.

import type { Instant } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { RecordedRelease } from '#api/cleaner';
import type { Acting } from './actor.ts';
import type { AuthorizedClient, DeletingClient } from './authorizedClient.ts';
import type { Context } from './context.ts';
import { type Uninstalled, uninstall } from './helm.ts';
import { createHookRunner } from './hooks.ts';
import type { Progress } from './progress.ts';

export interface Uninstalling {
  readonly ctx: ReconcileContext;
  readonly context: Context;
  readonly progress: Progress;
  readonly actor: Acting;
  readonly authorized: DeletingClient;
  /** Until when a deletion must wait for the operator's budget. Undefined: it may proceed. */
  readonly heldUntil: (uid: string) => Instant | undefined;
}

export function uninstallRecorded(record: RecordedRelease, uninstalling: Uninstalling): Promise<Uninstalled> {
  const { ctx, context, progress, actor, authorized, heldUntil } = uninstalling;
  const { options, client, actors } = context;
  return uninstall({
    authorized,
    discovery: client.discovery,
    record,
    self: ctx.key.name,
    now: ctx.now,
    purgeIncomplete: options.helmPurgeIncomplete,
    isWanted: () => progress.isWanted(),
    refusalTo: (verb, kind, key) => actors.refusalTo(actor, verb, kind, key),
    heldUntil,
    onDeleted: () => progress.noteStart(),
    begin: () => begin(progress, authorized),
    runHooks: hookRunner(uninstalling),
  });
}

/** A hook that has run cannot be undone, like a deletion. */
async function begin(
  progress: Progress,
  authorized: AuthorizedClient,
): Promise<'begun' | 'not begun' | 'stop'> {
  const hasRunHooks = (progress.record.helm?.hooks?.preDelete ?? 0) > 0;
  if (!hasRunHooks && !(await progress.hasBegun(authorized))) return 'not begun';
  return (await progress.noteStart()) === 'stop' ? 'stop' : 'begun';
}

function hookRunner({ ctx, context, progress, actor, authorized }: Uninstalling) {
  const { options, client, actors } = context;
  const { namespace } = authorized;
  return createHookRunner({
    authorized,
    discovery: client.discovery,
    now: ctx.now,
    enabled: options.helmHooks === 'run',
    timeout: options.helmHookTimeout,
    refusalTo: (verb, kind, name) => actors.refusalTo(actor, verb, kind, { namespace, name }),
    refusalToCreate: (kind) => actors.refusalToCreate(actor, kind, namespace),
    decision: `${progress.cleaner.metadata.uid}/${progress.record.evaluatedAt}`,
    progress: () => progress.record.helm?.hooks ?? {},
    note: (hooks) => progress.note({ ...progress.record, helm: { ...progress.record.helm!, hooks } }),
  });
}

/** Longest list of objects in a message. Status and Events hold about 1,000 characters. */
const LONGEST_LIST = 600;

function describeList(items: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const item of items) {
    length += item.length + 2;
    if (length > LONGEST_LIST) break;
    shown.push(item);
  }
  const more = items.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

export function describeIncomplete(
  { left, unmarked }: Extract<Uninstalled, { kind: 'incomplete' }>,
  { namespace = '', name }: ObjectKey,
): string {
  const record = unmarked === undefined ? '' : `; the release record is unchanged: ${unmarked}`;
  const ways = `grant the right to delete them, run "helm uninstall ${name} -n ${namespace}", or set cleaner.helm.purgeIncomplete: true`;
  return `release ${name} is not uninstalled completely, left: ${describeList(left)}; ${ways}${record}`;
}

/** Emits an Event, once per decision and process. */
export function announceUninstalled(
  ctx: ReconcileContext,
  progress: Progress,
  release: string,
  { gone, kept, left }: Extract<Uninstalled, { kind: 'done' }>,
): void {
  const done = progress.done();
  if (done.told) return;
  done.told = true;
  const count = gone === undefined ? '' : `, ${gone} ${gone === 1 ? 'object is' : 'objects are'} gone`;
  const stays = [...left, ...kept.map((name) => `${name} (keep)`)];
  const note = `the release ${release} was uninstalled${count}${stays.length === 0 ? '' : `; left in place: ${describeList(stays)}`}`;
  const type = left.length === 0 ? 'Normal' : 'Warning';
  ctx.event(progress.cleaner, { type, reason: 'HelmReleaseUninstalled', action: 'Delete', note });
}
