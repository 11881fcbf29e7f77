// Records what is deleted in a simulation, when, by which controller and why. Collected while it runs, explained
// afterwards.

import { formatTime, type Instant, isDue } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { parseKeyText } from '@lapse/runtime/interner';
import type { Change } from '@lapse/simulation/history';
import { refText } from '@lapse/simulation/refs';
import type { SimulatedReconcile } from '@lapse/simulation/timelineWriter';
import type { Attribution, DeletingReconcile } from './attribution.ts';

export interface SimulatedDeletion {
  /** When its deletion was accepted. */
  readonly at: Instant;
  /** When it no longer existed. Undefined: a finalizer still holds it. */
  gone?: Instant;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** `ttl-after-finished`; `garbage collection` and `namespace deletion` for dependents. */
  readonly by: string;
  readonly because: string;
}

/** Information from outside of the simulation. */
export interface ReasonSources {
  readonly start: Instant;
  /** The kind of the keys of a controller. */
  kindOf(controller: string): string | undefined;
  /** The forecast about an object at the start, by uid. */
  predicted(
    uid: string,
  ): { readonly at: Instant; readonly rule: string; readonly because: string } | undefined;
}

const QUIET = new Set(['events', 'leases']);

interface Found extends Omit<SimulatedDeletion, 'because'> {
  readonly reconcile?: DeletingReconcile;
  readonly owner?: string;
}

export class DeletionLog {
  readonly #attribution: Attribution;
  readonly #found = new Map<string, Found>();
  readonly #names = new Map<string, string>();

  constructor(attribution: Attribution) {
    this.#attribution = attribution;
  }

  change(change: Change): void {
    const { before, after } = change;
    const object = (before ?? after)!;
    const { uid = '' } = object.metadata;
    if (QUIET.has(change.resource)) return;
    const isEnding = after === undefined || after.metadata.deletionTimestamp !== undefined;
    if (!isEnding) return;
    const known = this.#found.get(uid);
    if (known === undefined) this.#found.set(uid, this.#deletion(change, object));
    else if (after === undefined) known.gone = change.at;
    this.#names.set(uid, refText(change.kind, keyOf(change)));
  }

  /** In the order of time. */
  explain(reconciles: readonly SimulatedReconcile[], sources: ReasonSources): SimulatedDeletion[] {
    const waits = waitsOf(reconciles);
    return [...this.#found.values()]
      .map(({ reconcile, owner, ...deletion }): SimulatedDeletion => {
        if (reconcile !== undefined)
          return { ...deletion, because: reasonOf(deletion, reconcile, waits, sources) };
        return { ...deletion, because: owner === undefined ? '' : `its owner ${owner} was deleted` };
      })
      .sort((a, b) => a.at - b.at || (refOfDeletion(a) < refOfDeletion(b) ? -1 : 1));
  }

  #deletion(change: Change, object: KubeObject): Found {
    const { at, kind, namespace, name, after } = change;
    const reconcile = change.by === 'process' ? this.#attribution.of(change) : undefined;
    const owner = object.metadata.ownerReferences?.map(({ uid }) => this.#names.get(uid)).find(Boolean);
    const began = change.before?.metadata.deletionTimestamp !== undefined;
    return {
      at,
      ...(after === undefined ? { gone: at } : {}),
      apiVersion: object.apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid: object.metadata.uid ?? '',
      by: reconcile?.controller ?? (began ? 'a deletion before the start' : byWhom(change, owner)),
      ...(reconcile === undefined ? {} : { reconcile }),
      ...(owner === undefined ? {} : { owner }),
    };
  }
}

function byWhom({ by }: Change, owner: string | undefined): string {
  if (by === 'process') return 'lapse';
  if (by === 'simulated controller') return owner === undefined ? 'the cluster' : 'garbage collection';
  return by === 'user' ? 'a user' : 'the server';
}

const keyOf = ({ namespace, name }: { namespace?: string; name: string }) =>
  namespace === undefined ? { name } : { namespace, name };

export const refOfDeletion = (deletion: SimulatedDeletion): string => refText(deletion.kind, keyOf(deletion));

type Waits = ReadonlyMap<string, readonly SimulatedReconcile[]>;

function waitsOf(reconciles: readonly SimulatedReconcile[]): Waits {
  const waits = new Map<string, SimulatedReconcile[]>();
  for (const record of reconciles) {
    if (record.outcome.kind !== 'waitUntil') continue;
    const id = `${record.controller} ${record.key}`;
    const known = waits.get(id);
    if (known === undefined) waits.set(id, [record]);
    else known.push(record);
  }
  return waits;
}

/** A deletion may be this much later than its forecast: guards, retries, dependents. */
const ABOUT = 30_000;

/** The forecast, if it came true. Otherwise the rule, if it is another object, and the wait. */
function reasonOf(
  deletion: Omit<SimulatedDeletion, 'because'>,
  reconcile: DeletingReconcile,
  waits: Waits,
  sources: ReasonSources,
): string {
  const predicted = sources.predicted(deletion.uid);
  if (
    predicted !== undefined &&
    predicted.at <= deletion.at &&
    deletion.at - Math.max(predicted.at, sources.start) < ABOUT
  )
    return predicted.because.includes(predicted.rule)
      ? predicted.because
      : `${predicted.rule}: ${predicted.because}`;
  const rule = refText(
    sources.kindOf(reconcile.controller) ?? reconcile.controller,
    parseKeyText(reconcile.key),
  );
  const decidedBy = rule === refText(deletion.kind, keyOf(deletion)) ? '' : rule;
  const wait = waits
    .get(`${reconcile.controller} ${reconcile.key}`)
    ?.filter(
      ({ at, outcome }) => at < deletion.at && outcome.kind === 'waitUntil' && isDue(outcome.at, deletion.at),
    )
    .at(-1)?.outcome;
  const due = wait?.kind === 'waitUntil' ? `${wait.why}, due ${formatTime(wait.at)}` : reconcile.reason;
  return decidedBy === '' ? due : `${decidedBy}: ${due}`;
}
