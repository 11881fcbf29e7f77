// A simulated CSI driver: volumes and snapshots in memory, with injectable faults. Calls take virtual time: a call that is
// repeated before it ended is the same call. Effects are idempotent by name, as the CSI specification demands.

import { type Instant, isDue, type Millis, millis, plus } from '@lapse/base/instant';

/** gRPC status codes. The sidecars treat some of them as "the operation may still be running". */
export type CsiCode =
  | 'Aborted'
  | 'Canceled'
  | 'DeadlineExceeded'
  | 'Internal'
  | 'InvalidArgument'
  | 'NotFound'
  | 'OutOfRange'
  | 'ResourceExhausted'
  | 'Unavailable';

export interface CsiError {
  readonly kind: 'error';
  readonly code: CsiCode;
  readonly message: string;
}
export type CsiReply<T> =
  | { readonly kind: 'running'; readonly until: Instant }
  | { readonly kind: 'ok'; readonly value: T }
  | CsiError;

export interface CsiVolume {
  readonly handle: string;
  readonly size: number;
  /** Handle of the snapshot that its data comes from. */
  readonly from?: string;
}
export interface CsiSnapshot {
  readonly handle: string;
  readonly volume: string;
  readonly size: number;
  readonly createdAt: Instant;
  readonly ready: boolean;
}

export interface CsiDriver {
  readonly name: string;
  createVolume(request: { name: string; size: number; from?: string }, now: Instant): CsiReply<CsiVolume>;
  deleteVolume(handle: string, now: Instant): CsiReply<undefined>;
  createSnapshot(request: { name: string; volume: string }, now: Instant): CsiReply<CsiSnapshot>;
  getSnapshot(handle: string, now: Instant): CsiReply<CsiSnapshot>;
  deleteSnapshot(handle: string, now: Instant): CsiReply<undefined>;
}

export type CsiMethod =
  | 'CreateVolume'
  | 'DeleteVolume'
  | 'CreateSnapshot'
  | 'ListSnapshots'
  | 'DeleteSnapshot';

export interface CsiFault {
  readonly method: CsiMethod;
  /** Name or handle of the call; default: every one. */
  readonly of?: string;
  /** How many calls it applies to; default: every one. */
  readonly times?: number;
  /** How long the call takes. */
  readonly delay?: Millis;
  readonly error?: { readonly code: CsiCode; readonly message: string };
  /** The effect happens, although the call fails: the response is lost. */
  readonly lost?: boolean;
  /** How long a snapshot that this call takes is not ready to use. */
  readonly notReadyFor?: Millis;
}

interface StoredSnapshot extends Omit<CsiSnapshot, 'ready'> {
  readonly readyAt: Instant;
}
interface Running {
  readonly until: Instant;
  readonly startedAt: Instant;
  readonly fault: CsiFault | undefined;
}

const GIBIBYTE = 1024 ** 3;

const notFound = (message: string): CsiError => ({ kind: 'error', code: 'NotFound', message });

export class SimulatedDriver implements CsiDriver {
  readonly name: string;
  /** By handle. */
  readonly volumes = new Map<string, CsiVolume>();
  readonly #snapshots = new Map<string, StoredSnapshot>();
  readonly #handles = new Map<string, string>();
  readonly #running = new Map<string, Running>();
  readonly #faults: { readonly fault: CsiFault; left: number }[] = [];
  readonly #draw: (method: CsiMethod, of: string) => CsiFault | undefined;
  #next = 1;

  /** `draw` decides about each call that no injected fault applies to. */
  constructor(
    name = 'simulated.csi.lapse.dev',
    draw: (method: CsiMethod, of: string) => CsiFault | undefined = () => undefined,
  ) {
    this.name = name;
    this.#draw = draw;
  }

  inject(...faults: readonly CsiFault[]): void {
    this.#faults.push(...faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })));
  }

  /** Handles of the snapshots that exist in the storage system. */
  get snapshots(): readonly string[] {
    return [...this.#snapshots.keys()];
  }

  createVolume({ name, size, from }: { name: string; size: number; from?: string }, now: Instant) {
    return this.#call('CreateVolume', name, now, (): CsiReply<CsiVolume> => {
      if (from !== undefined && !this.#snapshots.has(from))
        return notFound(`snapshot id ${from} does not exist in the snapshots list`);
      const known = this.volumes.get(this.#handles.get(name) ?? '');
      if (known !== undefined) return { kind: 'ok', value: known };
      const volume = { handle: this.#handle(name), size, ...(from === undefined ? {} : { from }) };
      this.volumes.set(volume.handle, volume);
      return { kind: 'ok', value: volume };
    });
  }

  deleteVolume(handle: string, now: Instant) {
    return this.#call('DeleteVolume', handle, now, (): CsiReply<undefined> => {
      this.volumes.delete(handle);
      return { kind: 'ok', value: undefined };
    });
  }

  createSnapshot({ name, volume }: { name: string; volume: string }, now: Instant) {
    return this.#call('CreateSnapshot', name, now, (startedAt, fault): CsiReply<CsiSnapshot> => {
      const known = this.#snapshots.get(this.#handles.get(name) ?? '');
      if (known !== undefined) return { kind: 'ok', value: snapshotAt(known, now) };
      const readyAt = plus(now, fault?.notReadyFor ?? millis(0));
      const size = this.volumes.get(volume)?.size ?? GIBIBYTE;
      const taken = { handle: this.#handle(name), volume, size, createdAt: startedAt, readyAt };
      this.#snapshots.set(taken.handle, taken);
      return { kind: 'ok', value: snapshotAt(taken, now) };
    });
  }

  getSnapshot(handle: string, now: Instant) {
    return this.#call('ListSnapshots', handle, now, (): CsiReply<CsiSnapshot> => {
      const known = this.#snapshots.get(handle);
      return known === undefined
        ? notFound(`snapshot ${handle} not found`)
        : { kind: 'ok', value: snapshotAt(known, now) };
    });
  }

  deleteSnapshot(handle: string, now: Instant) {
    return this.#call('DeleteSnapshot', handle, now, (): CsiReply<undefined> => {
      this.#snapshots.delete(handle);
      return { kind: 'ok', value: undefined };
    });
  }

  #call<T>(
    method: CsiMethod,
    of: string,
    now: Instant,
    effect: (startedAt: Instant, fault: CsiFault | undefined) => CsiReply<T>,
  ): CsiReply<T> {
    const id = `${method} ${of}`;
    const running = this.#running.get(id) ?? this.#start(method, of, now);
    if (!isDue(running.until, now)) {
      this.#running.set(id, running);
      return { kind: 'running', until: running.until };
    }
    this.#running.delete(id);
    const { fault, startedAt } = running;
    if (fault?.error === undefined) return effect(startedAt, fault);
    if (fault.lost) effect(startedAt, fault);
    return { kind: 'error', ...fault.error };
  }

  #start(method: CsiMethod, of: string, now: Instant): Running {
    const entry = this.#faults.find(
      ({ fault, left }) => left > 0 && fault.method === method && (fault.of ?? of) === of,
    );
    if (entry !== undefined) entry.left--;
    const fault = entry?.fault ?? this.#draw(method, of);
    return { until: plus(now, fault?.delay ?? millis(0)), startedAt: now, fault };
  }

  #handle(name: string): string {
    const handle = `${this.name}-${this.#next++}`;
    this.#handles.set(name, handle);
    return handle;
  }
}

const snapshotAt = ({ readyAt, ...snapshot }: StoredSnapshot, now: Instant): CsiSnapshot => ({
  ...snapshot,
  ready: isDue(readyAt, now),
});
