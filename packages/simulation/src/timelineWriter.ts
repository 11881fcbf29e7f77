// Builds the timeline from reconciles, accepted changes and rejected requests. Keeps the deadlines of each object to
// compute the lag of its deletion.

import { type Instant, instant, isDue, minus } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { ApiError } from '@lapse/kube/api/status';
import { parseKeyText } from '@lapse/runtime/interner';
import type { ReconcileRecord } from '@lapse/runtime/worker';
import type { Change } from './history.ts';
import { refText } from './refs.ts';
import { isWrite } from './requestInfo.ts';
import { lengthText, type Timeline } from './timeline.ts';
import { describeChange, describeRefusal, describeWait, type TimelineEntry } from './timelineEntries.ts';
import type { RequestRecord } from './wire.ts';

export interface SimulatedReconcile extends ReconcileRecord {
  readonly controller: string;
  /** When the reconcile ended, in simulation time. */
  readonly at: Instant;
}

interface Wait {
  readonly at: Instant;
  readonly why: string;
}

export class TimelineWriter {
  readonly #timeline: Timeline;
  readonly #now: () => Instant;
  readonly #kindOf: (controller: string) => Kind | undefined;
  /** By object and controller, because several controllers may wait for the same object. */
  readonly #waits = new Map<string, Map<string, Wait>>();
  /** Names of objects by uid. */
  readonly #names = new Map<string, string>();
  /** Objects with a TTL that finished at this instant: the line that they wait for the TTL would be redundant. */
  readonly #finished = new Map<string, Instant>();

  readonly #waitLines: 'every wait' | undefined;

  /** `waitLines`: also report the TTL wait of an object that has just finished, which is redundant on a virtual clock. */
  constructor(
    timeline: Timeline,
    now: () => Instant,
    kindOf: (controller: string) => Kind | undefined,
    waitLines?: 'every wait',
  ) {
    this.#waitLines = waitLines;
    this.#timeline = timeline;
    this.#now = now;
    this.#kindOf = kindOf;
  }

  reconcile(record: SimulatedReconcile): void {
    const kind = this.#kindOf(record.controller);
    const ref = refText(kind?.kind ?? record.controller, parseKeyText(record.key));
    const { outcome } = record;
    switch (outcome.kind) {
      case 'settled':
        this.#forget(ref, record.controller);
        return;
      case 'waitUntil':
        this.#wait(ref, record.controller, { at: outcome.at, why: outcome.why });
        return;
      case 'again':
        this.#addLine(ref, { action: 'again', detail: outcome.why });
        return;
      case 'failed':
        this.#addLine(ref, { action: 'failed', detail: causeText(outcome.cause) });
        return;
      case 'terminal':
        this.#addLine(ref, { action: 'gave up', detail: `${outcome.reason}: ${outcome.message}` });
        return;
    }
  }

  change(change: Change): void {
    const { namespace, name } = change;
    const uid = change.after?.metadata.uid;
    if (uid !== undefined) this.#names.set(uid, name);
    const ref = refText(change.kind, namespace === undefined ? { name } : { namespace, name });
    const lag = this.#lag(ref, change.serverAt);
    for (const entry of change.after === undefined
      ? this.#end(ref, change, lag)
      : describeChange(change, lag)) {
      if (entry.detail.startsWith('ttl=')) this.#finished.set(ref, change.at);
      this.#addLine(ref, entry);
    }
    if (change.after === undefined) this.#waits.delete(ref);
  }

  answer(record: RequestRecord, kindName: (record: RequestRecord) => string): void {
    if (!isWrite(record) || record.name === undefined) return;
    const entry = describeRefusal(record);
    const { namespace, name } = record;
    if (entry !== undefined)
      this.#addLine(
        refText(kindName(record), namespace === undefined ? { name } : { namespace, name }),
        entry,
      );
  }

  /** A deletion that took no time is one line, regardless of its steps. */
  #end(ref: string, change: Change, lag: string): TimelineEntry[] {
    const began = this.#timeline.retract(this.#withoutUids(ref), change.at, 'terminating');
    const entries = describeChange(change, lag);
    if (began === undefined) return entries;
    return entries.map(({ action }) => ({ action, detail: began.detail.replace(/ ?waits for .*/, '') }));
  }

  #wait(ref: string, controller: string, wait: Wait): void {
    const waits = this.#waits.get(ref) ?? new Map<string, Wait>();
    this.#waits.set(ref, waits);
    const before = waits.get(controller);
    waits.set(controller, wait);
    if (before?.at === wait.at && before.why === wait.why) return;
    const isRedundant = before === undefined && this.#finished.get(ref) === this.#now();
    if (isRedundant && this.#waitLines !== 'every wait') return;
    this.#addLine(
      ref,
      describeWait(wait, before, (at) => this.#timeline.stamp(at)),
    );
  }

  /** Drops a deadline that a controller no longer waits for. A due deadline is kept: it may cause the coming deletion. */
  #forget(ref: string, controller: string): void {
    const waits = this.#waits.get(ref);
    const wait = waits?.get(controller);
    if (wait !== undefined && !isDue(wait.at, this.#now())) waits!.delete(controller);
  }

  /** Time since the last deadline of any controller; negative if no deadline was due. */
  #lag(ref: string, now: Instant): string {
    const all = [...(this.#waits.get(ref)?.values() ?? [])].filter(({ why }) => !why.startsWith('held'));
    if (all.length === 0) return '';
    const due = all.filter(({ at }) => isDue(at, now)).map(({ at }) => at);
    const from = due.length > 0 ? Math.max(...due) : Math.min(...all.map(({ at }) => at));
    return `lag=${lengthText(minus(now, instant(from)))}`;
  }

  #addLine(ref: string, { action, detail }: TimelineEntry): void {
    this.#timeline.add({
      at: this.#now(),
      ref: this.#withoutUids(ref),
      action,
      detail: this.#withoutUids(detail),
    });
  }

  /** Replaces uids, which differ between runs, by the names of their objects. */
  #withoutUids = (text: string): string => text.replace(UUID, (uid) => `<${this.#names.get(uid) ?? 'uid'}>`);
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** The timeline contains no uids and versions. For API errors the reason is enough. */
const causeText = (cause: Error): string =>
  cause instanceof ApiError ? cause.reason : (cause.message.split('\n')[0] ?? '');
