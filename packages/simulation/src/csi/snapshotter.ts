// Simulates csi-snapshotter, the sidecar of external-snapshotter v8 beside a CSI driver: it takes, checks and deletes the
// snapshot of each VolumeSnapshotContent, and writes the annotations, status and Events of the real one in its order.

import { formatTime, type Instant, instant, isDue, type Millis, minutes, plus } from '@lapse/base/instant';
import { BEING_CREATED, BEING_DELETED, CONTENT_PROTECTION } from '@lapse/kube/api/kinds/snapshotNames';
import { VolumeSnapshotClass, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { CsiDriver, CsiError, CsiFault, CsiReply, CsiSnapshot } from './driver.ts';
import { Retries } from './retries.ts';
import { SNAPSHOT_SCRIPT, scriptedFault } from './script.ts';
import { annotate, patchObject, removeFinalizers, retryStaleReads } from './writes.ts';

export interface SnapshotterOptions {
  readonly driver: CsiDriver;
  /** How long the sidecar waits for a call; default: 1 min. */
  readonly timeout?: Millis;
  /** Also serves contents without a VolumeSnapshot, as the patched controllers of Deckhouse do. */
  readonly unbound?: boolean;
}

/** The operation may still be running: the sidecar keeps its annotation and asks again. */
const NOT_FINAL = new Set(['Aborted', 'Canceled', 'DeadlineExceeded', 'ResourceExhausted', 'Unavailable']);

const nanosOf = (at: Instant): bigint => BigInt(Math.round(at)) * 1_000_000n;

function isDeletable({ metadata, spec }: VolumeSnapshotContent, unbound: boolean): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  const isBound = spec?.volumeSnapshotRef?.uid !== undefined;
  if (spec?.source?.snapshotHandle !== undefined && !isBound) return true;
  const { annotations = {} } = metadata;
  return !(BEING_CREATED in annotations) && (BEING_DELETED in annotations || (unbound && !isBound));
}

/** The fields of the status that the response changes. The error stays until the snapshot is ready. */
function changesOf({ status = {} }: VolumeSnapshotContent, taken: CsiSnapshot): object | undefined {
  const next: Record<string, unknown> = {};
  if (status.snapshotHandle === undefined) next.snapshotHandle = taken.handle;
  if (status.creationTime === undefined) next.creationTime = nanosOf(taken.createdAt);
  if (status.restoreSize === undefined) next.restoreSize = taken.size;
  if (status.readyToUse !== taken.ready) {
    next.readyToUse = taken.ready;
    if (taken.ready && status.error !== undefined) next.error = null;
  }
  return Object.keys(next).length === 0 ? undefined : next;
}

/** The fault that the annotation of the class asks for. */
async function faultOf(
  { client }: ReconcileContext,
  { spec }: VolumeSnapshotContent,
): Promise<CsiFault | undefined> {
  const name = spec?.volumeSnapshotClassName;
  const found = name === undefined ? undefined : await client.get(VolumeSnapshotClass, { name });
  const script = found?.metadata.annotations?.[SNAPSHOT_SCRIPT];
  return scriptedFault('CreateSnapshot', SNAPSHOT_SCRIPT, script);
}

class Snapshotter {
  readonly #driver: CsiDriver;
  readonly #timeout: Millis;
  readonly #unbound: boolean;
  readonly #retries = new Retries();
  readonly #startedAt = new Map<string, Instant>();

  constructor({ driver, timeout = minutes(1), unbound = false }: SnapshotterOptions) {
    this.#driver = driver;
    this.#timeout = timeout;
    this.#unbound = unbound;
  }

  async reconcile(ctx: ReconcileContext): Promise<Outcome> {
    const content = ctx.cache.get(VolumeSnapshotContent, ctx.key);
    if (content === undefined) {
      this.#retries.forget(ctx.key.name);
      return settled();
    }
    return this.#driver.serves(content.spec?.driver ?? '') ? this.#sync(ctx, content) : settled();
  }

  async #sync(ctx: ReconcileContext, content: VolumeSnapshotContent): Promise<Outcome> {
    if (isDeletable(content, this.#unbound)) return this.#delete(ctx, content);
    const { status, spec } = content;
    if (status?.readyToUse === true) {
      await this.#unmark(ctx, content);
      return settled();
    }
    const attempt = status === undefined ? CREATION : CHECK;
    return spec?.source?.volumeHandle === undefined
      ? this.#check(ctx, content)
      : this.#create(ctx, content, attempt);
  }

  async #create(ctx: ReconcileContext, read: VolumeSnapshotContent, attempt: Attempt): Promise<Outcome> {
    const marked = read.metadata.annotations?.[BEING_CREATED] !== undefined;
    let content = marked
      ? read
      : await annotate(ctx, VolumeSnapshotContent, read, { [BEING_CREATED]: 'yes' });
    const volume = content.spec!.source!.volumeHandle!;
    const reply = this.#take(ctx, content, await faultOf(ctx, content));
    if (reply.kind === 'running') return waitUntil(reply.until, 'CSI call');
    if (reply.kind === 'ok') {
      content = await this.#write(ctx, content, reply.value);
      content = await this.#unmark(ctx, content);
      return this.#afterwards(ctx, content, reply.value);
    }
    if (reply.code !== 'Unbound' && !NOT_FINAL.has(reply.code)) content = await this.#unmark(ctx, content);
    const cause = reply.code === 'Unbound' ? reply.message : rpcError(reply);
    return this.#fail(ctx, content, attempt, `failed to take snapshot of the volume ${volume}: "${cause}"`);
  }

  /** Calls CreateSnapshot, at most as long as the timeout. */
  #take(
    { now }: ReconcileContext,
    { metadata, spec }: VolumeSnapshotContent,
    fault: CsiFault | undefined,
  ): CsiReply<CsiSnapshot> | { readonly kind: 'error'; readonly code: 'Unbound'; readonly message: string } {
    const name = metadata.name!;
    const uid = spec?.volumeSnapshotRef?.uid ?? (this.#unbound ? metadata.uid : undefined);
    if (uid === undefined) {
      const message = `cannot create snapshot. Snapshot content ${name} not bound to a snapshot`;
      return { kind: 'error', code: 'Unbound', message };
    }
    const startedAt = this.#startedAt.get(name) ?? now;
    const expiry = plus(startedAt, this.#timeout);
    const volume = spec!.source!.volumeHandle!;
    const request = { name: `snapshot-${uid}`, volume, ...(fault === undefined ? {} : { fault }) };
    const reply = this.#driver.createSnapshot(request, now);
    const running = reply.kind === 'running' && !isDue(expiry, now);
    if (!running) this.#startedAt.delete(name);
    else this.#startedAt.set(name, startedAt);
    if (reply.kind !== 'running') return reply;
    return running
      ? { kind: 'running', until: instant(Math.min(reply.until, expiry)) }
      : { kind: 'error', code: 'DeadlineExceeded', message: 'context deadline exceeded' };
  }

  async #check(ctx: ReconcileContext, content: VolumeSnapshotContent): Promise<Outcome> {
    const handle = content.spec!.source!.snapshotHandle!;
    const reply = this.#driver.getSnapshot(handle, ctx.now);
    if (reply.kind === 'running') return waitUntil(reply.until, 'CSI call');
    if (reply.kind === 'error')
      return this.#fail(
        ctx,
        content,
        CHECK,
        `failed to list snapshot for content ${content.metadata.name}: "${rpcError(reply)}"`,
      );
    const written = await this.#write(ctx, content, reply.value);
    return this.#afterwards(ctx, written, reply.value);
  }

  async #write(
    ctx: ReconcileContext,
    content: VolumeSnapshotContent,
    taken: CsiSnapshot,
  ): Promise<VolumeSnapshotContent> {
    const status = changesOf(content, taken);
    if (status === undefined) return content;
    return patchObject(ctx, VolumeSnapshotContent, content, { status }, { status: true });
  }

  async #unmark(ctx: ReconcileContext, content: VolumeSnapshotContent): Promise<VolumeSnapshotContent> {
    if (content.metadata.annotations?.[BEING_CREATED] === undefined) return content;
    return annotate(ctx, VolumeSnapshotContent, content, { [BEING_CREATED]: null });
  }

  /** A snapshot that is not ready is checked again. A content that was deleted meanwhile is deleted now. */
  #afterwards(
    ctx: ReconcileContext,
    content: VolumeSnapshotContent,
    { ready }: CsiSnapshot,
  ): Outcome | Promise<Outcome> {
    const name = content.metadata.name!;
    if (!ready) return waitUntil(this.#retries.failed(name, ctx.now), 'snapshot not ready');
    this.#retries.forget(name);
    return isDeletable(content, this.#unbound) ? this.#delete(ctx, content) : settled();
  }

  /** An error that repeats is neither written nor reported again. */
  async #fail(
    ctx: ReconcileContext,
    content: VolumeSnapshotContent,
    { reason, prefix }: Attempt,
    cause: string,
  ): Promise<Outcome> {
    const message = `${prefix}: ${cause}`;
    if (content.status?.error?.message !== message) {
      const error = { message, time: formatTime(ctx.now) };
      const status = { error, ...(content.status?.readyToUse === undefined ? { readyToUse: false } : {}) };
      await patchObject(ctx, VolumeSnapshotContent, content, { status }, { status: true });
      ctx.event(content, { type: 'Warning', reason, action: 'Snapshot', note: message });
    }
    return waitUntil(this.#retries.failed(content.metadata.name!, ctx.now), 'retry');
  }

  async #delete(ctx: ReconcileContext, content: VolumeSnapshotContent): Promise<Outcome> {
    const { spec, status } = content;
    const handle = status?.snapshotHandle ?? spec?.source?.snapshotHandle;
    if (spec?.deletionPolicy === 'Delete' && handle !== undefined) {
      const reply = this.#driver.deleteSnapshot(handle, ctx.now);
      if (reply.kind === 'running') return waitUntil(reply.until, 'CSI call');
      if (reply.kind === 'error') {
        const note = 'Failed to delete snapshot';
        ctx.event(content, { type: 'Warning', reason: 'SnapshotDeleteError', action: 'Delete', note });
        return waitUntil(this.#retries.failed(content.metadata.name!, ctx.now), 'retry');
      }
      const cleared = Object.fromEntries(Object.keys(status ?? {}).map((field) => [field, null]));
      await patchObject(ctx, VolumeSnapshotContent, content, { status: cleared }, { status: true });
    }
    const live = await ctx.client.get(VolumeSnapshotContent, ctx.key);
    if (live !== undefined) await removeFinalizers(ctx, VolumeSnapshotContent, live, CONTENT_PROTECTION);
    return settled();
  }
}

interface Attempt {
  readonly reason: string;
  readonly prefix: string;
}
const CREATION: Attempt = { reason: 'SnapshotCreationFailed', prefix: 'Failed to create snapshot' };
const CHECK: Attempt = {
  reason: 'SnapshotContentCheckandUpdateFailed',
  prefix: 'Failed to check and update snapshot content',
};

const rpcError = ({ code, message }: CsiError): string => `rpc error: code = ${code} desc = ${message}`;

/** The sidecar does not wake for its own annotation and status. */
const facts = ({ metadata, spec }: VolumeSnapshotContent) => [
  spec,
  metadata.deletionTimestamp,
  metadata.annotations?.[BEING_DELETED],
];

export function csiSnapshotter(options: SnapshotterOptions): ControllerDefinition {
  const snapshotter = new Snapshotter(options);
  return defineController<VolumeSnapshotContent>({
    name: 'csi-snapshotter',
    for: VolumeSnapshotContent,
    facts,
    rights: [
      { group: VolumeSnapshotClass.group, resource: 'volumesnapshotclasses', verbs: ['get'] },
      { group: VolumeSnapshotContent.group, resource: 'volumesnapshotcontents', verbs: ['get', 'patch'] },
      { group: VolumeSnapshotContent.group, resource: 'volumesnapshotcontents/status', verbs: ['patch'] },
    ],
    reconcile: retryStaleReads((ctx) => snapshotter.reconcile(ctx)),
  }) as ControllerDefinition;
}
