// Leader election with a Lease: candidate → leader → candidate, until the process exits. Renewal uses a separate client
// without rate limits, so that a saturated API client does not cost the leadership.

import type { Clock } from '@lapse/base/clock';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import { sleep } from '@lapse/base/sleep';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import type { Elector } from '../manager.ts';
import type { Gauge, Registry } from '../metrics/registry.ts';
import { asError } from '../outcome.ts';
import { buildReleased, buildTaken, computeClaim, Lease, type Observed } from './lease.ts';
import { Validity } from './validity.ts';

export interface ElectionOptions {
  /** Must have `flow: 'none'` and its own transport. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
  /** Unique among the candidates: host name and a random part. */
  readonly identity: string;
  readonly lease: Required<ObjectKey>;
  /** Lease duration: how long other candidates wait for a renewal; default: 15 s. */
  readonly duration?: Millis;
  /** How long the leader acts without a renewal; less than `duration`; default: 10 s. */
  readonly renewDeadline?: Millis;
  /** Default: 2 s. */
  readonly retryPeriod?: Millis;
}

type Attempt =
  | { readonly kind: 'ours' }
  | { readonly kind: 'theirs'; readonly holder: string; readonly left: Millis }
  | { readonly kind: 'unknown'; readonly error: Error };

/** Spreads the attempts of candidates that started at the same time. */
const JITTER = 0.2;
const RELEASE_TIMEOUT = seconds(2);

export class LeaseElector implements Elector {
  readonly #options: ElectionOptions;
  readonly #duration: Millis;
  readonly #renewDeadline: Millis;
  readonly #retryPeriod: Millis;
  readonly #validity: Validity;
  readonly #status: Gauge;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #term: AbortController | undefined;
  #on: { gained(): void; lost(): void } = { gained: () => {}, lost: () => {} };
  #record: Lease | undefined;
  #observed: Observed | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#duration = options.duration ?? seconds(15);
    this.#renewDeadline = options.renewDeadline ?? seconds(10);
    this.#retryPeriod = options.retryPeriod ?? seconds(2);
    if (!(this.#retryPeriod * (1 + JITTER) < this.#renewDeadline && this.#renewDeadline < this.#duration))
      throw new Error('leader election needs retry period < renew deadline < lease duration');
    this.#validity = new Validity(options.clock, this.#renewDeadline);
    const { namespace, name } = options.lease;
    this.#log = options.log.with({ lease: `${namespace}/${name}`, identity: options.identity });
    this.#status = options.registry
      .gauge('leader_election_master_status', '1 while this process leads.', ['name'])
      .with(name);
  }

  /** Whether this process may act right now. Check directly before each write. */
  isValid(): boolean {
    return this.#term !== undefined && this.#validity.isValid();
  }

  /** Aborted when the current term ends. Undefined if this process does not lead. */
  get term(): AbortSignal | undefined {
    return this.#term?.signal;
  }

  start(on: { gained(): void; lost(): void }): void {
    this.#on = on;
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const leading = this.#term !== undefined;
    this.#lose('stopped');
    if (leading) await this.#release();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const pause = await this.#round();
      if (!signal.aborted) await sleep(this.#options.clock, pause, signal);
    }
  }

  /** Tries to acquire or renew the lease. Returns the time until the next attempt. */
  async #round(): Promise<Millis> {
    const attempt = await this.#attempt();
    switch (attempt.kind) {
      case 'ours':
        return this.#retryPeriod;
      case 'theirs':
        this.#lose(`${attempt.holder} leads`);
        return millis(Math.min(attempt.left, this.#jittered()));
      case 'unknown':
        this.#log.warn({ error: attempt.error }, 'the lease could not be read or written');
        // The leader retries more often, until its renew deadline.
        return this.#term === undefined ? this.#jittered() : millis(this.#retryPeriod / 2);
    }
  }

  #jittered(): Millis {
    return millis(this.#retryPeriod * (1 + JITTER * this.#options.random.next()));
  }

  async #attempt(): Promise<Attempt> {
    try {
      if (this.#term !== undefined && this.#record !== undefined) {
        const renewed = await this.#take(this.#record);
        if (renewed !== undefined) return renewed;
      }
      return await this.#readAndTake();
    } catch (error) {
      return { kind: 'unknown', error: asError(error) };
    }
  }

  async #readAndTake(): Promise<Attempt> {
    const { client, clock, lease, identity } = this.#options;
    const record = await client.get(Lease, lease, this.#request);
    if (record === undefined)
      return (await this.#take(undefined)) ?? this.#unknown('created by another client just now');
    const claim = computeClaim(record.spec ?? {}, identity, this.#observed, clock.elapsed());
    if (claim.kind === 'wait') {
      this.#observed = claim.observed;
      return { kind: 'theirs', holder: claim.observed.holder, left: claim.left };
    }
    return (await this.#take(record)) ?? this.#unknown('changed by another client just now');
  }

  /** Writes the Lease with this process as holder, with its resourceVersion. Undefined if another candidate was faster. */
  async #take(before: Lease | undefined): Promise<Attempt | undefined> {
    const { client, clock, lease, identity } = this.#options;
    const sent = { wall: clock.now(), elapsed: clock.elapsed() };
    const durationSeconds = Math.ceil(this.#duration / 1000);
    const spec = buildTaken(before?.spec, { me: identity, durationSeconds, now: sent.wall });
    const options = this.#request;
    const answer =
      before === undefined
        ? await client.create(
            Lease,
            { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec },
            options,
          )
        : await client.update(Lease, { ...before, spec }, options);
    if (!('object' in answer)) {
      if (answer.kind === 'invalid') throw answer.error;
      return undefined;
    }
    this.#record = answer.object;
    this.#validity.extend(sent, () => this.#lose('not renewed in time'));
    // The response may have taken longer than the validity.
    if (!this.#validity.isValid()) return this.#unknown('renewed too late');
    this.#gain();
    return { kind: 'ours' };
  }

  get #request(): { timeout: Millis; signal: AbortSignal } {
    return { timeout: millis(this.#renewDeadline / 2), signal: this.#stop.signal };
  }

  #unknown(why: string): Attempt {
    return { kind: 'unknown', error: new Error(`the lease was ${why}`) };
  }

  #gain(): void {
    if (this.#term !== undefined || this.#stop.signal.aborted) return;
    this.#term = new AbortController();
    this.#observed = undefined;
    this.#status.set(1);
    this.#log.info({}, 'leading');
    this.#on.gained();
  }

  #lose(why: string): void {
    const term = this.#term;
    this.#validity.end();
    if (term === undefined) return;
    this.#term = undefined;
    this.#status.set(0);
    this.#log.info({ why }, 'no longer leading');
    term.abort(new Error(`leadership ended: ${why}`));
    this.#on.lost();
  }

  /** Releases the Lease so that the next leader need not wait. On failure, the Lease expires instead. */
  async #release(): Promise<void> {
    const { client, clock, lease, identity } = this.#options;
    try {
      // Reads the Lease first, because the server may have handled a renewal that `stop` aborted.
      const record = await client.get(Lease, lease, { timeout: RELEASE_TIMEOUT });
      if (record?.spec?.holderIdentity !== identity) return;
      const spec = buildReleased(record.spec, clock.now());
      await client.update(Lease, { ...record, spec }, { timeout: RELEASE_TIMEOUT });
    } catch (error) {
      this.#log.warn({ error: asError(error) }, 'the lease could not be released');
    }
  }
}
