// A simulated CSI driver: volumes and snapshots in memory, with injectable faults. Calls take virtual time: a call that is
// repeated before it ended is the same call. Effects are idempotent by name, as the CSI specification demands, and the
// name is the handle.

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

export interface CreateVolume {
  readonly name: string;
  readonly size: number;
  readonly from?: string;
  /** Applies to this call, before injected faults. */
  readonly fault?: CsiFault;
}
export interface CreateSnapshot {
  readonly name: string;
  readonly volume: string;
  readonly fault?: CsiFault;
}

export interface CsiDriver {
  /** Whether it is the driver of this name. */
  serves(name: string): boolean;
  createVolume(request: CreateVolume, now: Instant): CsiReply<CsiVolume>;
  deleteVolume(handle: string, now: Instant): CsiReply<undefined>;
  createSnapshot(request: CreateSnapshot, now: Instant): CsiReply<CsiSnapshot>;
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
interface Call {
  readonly method: CsiMethod;
  /** Name or handle. */
  readonly of: string;
  readonly fault?: CsiFault | undefined;
}
interface Running {
  readonly until: Instant;
  readonly startedAt: Instant;
  readonly fault: CsiFault | undefined;
}

const GIBIBYTE = 1024 ** 3;

const notFound = (message: string): CsiError => ({ kind: 'error', code: 'NotFound', message });

export class SimulatedDriver implements CsiDriver {
  /** By handle. */
  readonly volumes = new Map<string, CsiVolume>();
  readonly #name: string | undefined;
  readonly #snapshots = new Map<string, StoredSnapshot>();
  readonly #deleted = new Set<string>();
  readonly #running = new Map<string, Running>();
  readonly #faults: { readonly fault: CsiFault; left: number }[] = [];
  readonly #draw: (method: CsiMethod, of: string) => CsiFault | undefined;

  /**
   * Without a name it stands for all drivers of a cluster whose storage it does not know: snapshots that it did not take
   * exist until they are deleted. `draw` decides about each call that no other fault applies to.
   */
  constructor(
    name?: string,
    draw: (method: CsiMethod, of: string) => CsiFault | undefined = () => undefined,
  ) {
    this.#name = name;
    this.#draw = draw;
  }

  /** Provisioners of the domain kubernetes.io are not CSI drivers. */
  serves(name: string): boolean {
    if (this.#name !== undefined) return name === this.#name;
    return name !== '' && !name.startsWith('kubernetes.io/');
  }

  inject(...faults: readonly CsiFault[]): void {
    this.#faults.push(...faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })));
  }

  /** Handles of the snapshots that exist in the storage system. */
  get snapshots(): readonly string[] {
    return [...this.#snapshots.keys()];
  }

  createVolume({ name, size, from, fault }: CreateVolume, now: Instant) {
    const call = { method: 'CreateVolume', of: name, fault } as const;
    return this.#call(call, now, (): CsiReply<CsiVolume> => {
      if (from !== undefined && this.#find(from, now) === undefined)
        return notFound(`snapshot id ${from} does not exist in the snapshots list`);
      const known = this.volumes.get(name);
      if (known !== undefined) return { kind: 'ok', value: known };
      const volume = { handle: name, size, ...(from === undefined ? {} : { from }) };
      this.volumes.set(name, volume);
      return { kind: 'ok', value: volume };
    });
  }

  deleteVolume(handle: string, now: Instant) {
    return this.#call({ method: 'DeleteVolume', of: handle }, now, (): CsiReply<undefined> => {
      this.volumes.delete(handle);
      return { kind: 'ok', value: undefined };
    });
  }

  createSnapshot({ name, volume, fault: given }: CreateSnapshot, now: Instant) {
    const call = { method: 'CreateSnapshot', of: name, fault: given } as const;
    return this.#call(call, now, (startedAt, fault): CsiReply<CsiSnapshot> => {
      const known = this.#snapshots.get(name);
      if (known !== undefined) return { kind: 'ok', value: snapshotAt(known, now) };
      const readyAt = plus(now, fault?.notReadyFor ?? millis(0));
      const size = this.volumes.get(volume)?.size ?? GIBIBYTE;
      const taken = { handle: name, volume, size, createdAt: startedAt, readyAt };
      this.#snapshots.set(name, taken);
      return { kind: 'ok', value: snapshotAt(taken, now) };
    });
  }

  getSnapshot(handle: string, now: Instant) {
    return this.#call({ method: 'ListSnapshots', of: handle }, now, (): CsiReply<CsiSnapshot> => {
      const known = this.#find(handle, now);
      return known === undefined
        ? notFound(`snapshot ${handle} not found`)
        : { kind: 'ok', value: snapshotAt(known, now) };
    });
  }

  deleteSnapshot(handle: string, now: Instant) {
    return this.#call({ method: 'DeleteSnapshot', of: handle }, now, (): CsiReply<undefined> => {
      this.#snapshots.delete(handle);
      this.#deleted.add(handle);
      return { kind: 'ok', value: undefined };
    });
  }

  #find(handle: string, now: Instant): StoredSnapshot | undefined {
    const known = this.#snapshots.get(handle);
    if (known !== undefined || this.#name !== undefined || this.#deleted.has(handle)) return known;
    const assumed = { handle, volume: '', size: GIBIBYTE, createdAt: now, readyAt: now };
    this.#snapshots.set(handle, assumed);
    return assumed;
  }

  #call<T>(
    call: Call,
    now: Instant,
    effect: (startedAt: Instant, fault: CsiFault | undefined) => CsiReply<T>,
  ): CsiReply<T> {
    const id = `${call.method} ${call.of}`;
    const running = this.#running.get(id) ?? this.#start(call, now);
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

  #start({ method, of, fault: given }: Call, now: Instant): Running {
    const entry = this.#faults.find(
      ({ fault, left }) => left > 0 && fault.method === method && (fault.of ?? of) === of,
    );
    if (given === undefined && entry !== undefined) entry.left--;
    const fault = given ?? entry?.fault ?? this.#draw(method, of);
    return { until: plus(now, fault?.delay ?? millis(0)), startedAt: now, fault };
  }
}

const snapshotAt = ({ readyAt, ...snapshot }: StoredSnapshot, now: Instant): CsiSnapshot => ({
  ...snapshot,
  ready: isDue(readyAt, now),
});
