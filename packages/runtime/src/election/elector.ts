// Leader election on a Lease: candidate → leader → candidate, for as long as the process lives. Renewal has a client of
// its own, outside flow control, so that a saturated API client does not cost the leadership.

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
  /** With `flow: 'none'` and a transport of its own. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
  /** Unlike any other candidate's: host name and something random. */
  readonly identity: string;
  readonly lease: Required<ObjectKey>;
  /** How long others wait for us to renew; 15 s unless told. */
  readonly duration?: Millis;
  /** How long we act without having renewed; 10 s unless told, less than `duration`. */
  readonly renewDeadline?: Millis;
  /** 2 s unless told. */
  readonly retryPeriod?: Millis;
}

type Attempt =
  | { readonly kind: 'ours' }
  | { readonly kind: 'theirs'; readonly holder: string; readonly left: Millis }
  | { readonly kind: 'unknown'; readonly error: Error };

/** Candidates that started together must not stay together. */
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

  /** Whether we may act at this very moment. Ask right before each write. */
  isValid(): boolean {
    return this.#term !== undefined && this.#validity.isValid();
  }

  /** Aborted when the present term ends; undefined when there is none. */
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
      const pause = await this.#turn();
      if (!signal.aborted) await sleep(this.#options.clock, pause, signal);
    }
  }

  /** One attempt to take or renew; how long to wait until the next. */
  async #turn(): Promise<Millis> {
    const attempt = await this.#attempt();
    switch (attempt.kind) {
      case 'ours':
        return this.#retryPeriod;
      case 'theirs':
        this.#lose(`${attempt.holder} leads`);
        return millis(Math.min(attempt.left, this.#jittered()));
      case 'unknown':
        this.#log.warn({ error: attempt.error }, 'the lease could not be read or written');
        // Who leads has until the deadline, and uses it.
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
      return (await this.#take(undefined)) ?? this.#unknown('made by somebody else just now');
    const claim = computeClaim(record.spec ?? {}, identity, this.#observed, clock.elapsed());
    if (claim.kind === 'wait') {
      this.#observed = claim.observed;
      return { kind: 'theirs', holder: claim.observed.holder, left: claim.left };
    }
    return (await this.#take(record)) ?? this.#unknown('changed by somebody else just now');
  }

  /** Writes the record with us as holder, on the version it was read with; undefined when somebody was faster. */
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
    // The answer may have taken longer than the validity lasts.
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

  /** So that the next leader need not wait. If it fails, it waits. */
  async #release(): Promise<void> {
    const { client, clock, lease, identity } = this.#options;
    try {
      // Read first: a renewal cut off by the stop may have been carried out.
      const record = await client.get(Lease, lease, { timeout: RELEASE_TIMEOUT });
      if (record?.spec?.holderIdentity !== identity) return;
      const spec = buildReleased(record.spec, clock.now());
      await client.update(Lease, { ...record, spec }, { timeout: RELEASE_TIMEOUT });
    } catch (error) {
      this.#log.warn({ error: asError(error) }, 'the lease could not be released');
    }
  }
}
