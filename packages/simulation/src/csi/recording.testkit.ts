// The lines of a recording, and the driver that answers CSI calls as recorded.

import { readFileSync } from 'node:fs';
import { type Instant, isDue, millis, plus } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { CsiDriver, CsiReply, CsiSnapshot, CsiVolume } from './driver.ts';

export interface RecordedState {
  readonly at: number;
  readonly verb: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject & { spec?: JsonObject; status?: JsonObject };
}
export interface RecordedEvent {
  readonly at: number;
  readonly event: string;
  readonly of: readonly [kind: string, namespace: string, name: string];
}
export interface RecordedCall {
  readonly at: number;
  readonly ms: number;
  readonly method: string;
  readonly of: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly snapshot?: Omit<CsiSnapshot, 'createdAt'>;
  readonly volume?: CsiVolume;
}

export const linesOf = <T>(file: string): T[] =>
  readFileSync(new URL(`fixtures/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

/** Answers calls as recorded: in order, but neither long before nor long after the time of the recorded answer. */
export class RecordedDriver implements CsiDriver {
  readonly #calls = new Map<string, RecordedCall[]>();
  readonly #running = new Map<string, { readonly until: Instant; readonly call: RecordedCall }>();
  readonly #used = new Map<string, number>();
  readonly #start: () => Instant;
  readonly #recorded: (text: string) => string;

  constructor(calls: readonly RecordedCall[], start: () => Instant, recorded: (text: string) => string) {
    this.#start = start;
    this.#recorded = recorded;
    for (const call of calls) {
      const id = `${call.method} ${call.of}`;
      this.#calls.set(id, [...(this.#calls.get(id) ?? []), call]);
    }
  }

  serves(name: string): boolean {
    return name === 'hostpath.csi.k8s.io';
  }
  createVolume({ name }: { name: string }, now: Instant): CsiReply<CsiVolume> {
    return this.#reply('CreateVolume', name, now, ({ volume }) => volume!);
  }
  deleteVolume(): CsiReply<undefined> {
    return { kind: 'ok', value: undefined };
  }
  createSnapshot({ name }: { name: string }, now: Instant): CsiReply<CsiSnapshot> {
    return this.#reply('CreateSnapshot', name, now, ({ snapshot }) => ({ ...snapshot!, createdAt: now }));
  }
  getSnapshot(handle: string, now: Instant): CsiReply<CsiSnapshot> {
    return this.#reply('ListSnapshots', handle, now, ({ snapshot }) => ({ ...snapshot!, createdAt: now }));
  }
  deleteSnapshot(handle: string, now: Instant): CsiReply<undefined> {
    return this.#reply('DeleteSnapshot', handle, now, () => undefined);
  }

  #reply<T>(method: string, of: string, now: Instant, value: (call: RecordedCall) => T): CsiReply<T> {
    const id = `${method} ${this.#recorded(of)}`;
    const known = this.#running.get(id);
    const call = known?.call ?? this.#next(id, now - this.#start());
    const until = known?.until ?? plus(now, millis(call.ms));
    if (!isDue(until, now)) {
      this.#running.set(id, { until, call });
      return { kind: 'running', until };
    }
    this.#running.delete(id);
    if (call.error === undefined) return { kind: 'ok', value: value(call) };
    // The recorder saw that the sidecar cancelled the call; the sidecar saw its own deadline.
    const { code, message } =
      call.error.code === 'Canceled'
        ? { code: 'DeadlineExceeded', message: 'context deadline exceeded' }
        : call.error;
    return { kind: 'error', code: code as never, message };
  }

  #next(id: string, at: number): RecordedCall {
    const calls = this.#calls.get(id);
    if (calls === undefined) throw new Error(`the recording has no call ${id}`);
    let index = Math.min(this.#used.get(id) ?? 0, calls.length - 1);
    while (index + 1 < calls.length && calls[index + 1]!.at <= at - 1000) index++;
    if (index > 0 && calls[index]!.at > at + 3000) index--;
    this.#used.set(id, index + 1);
    return calls[index]!;
  }
}
