// Access reviews of subjects with a cache of positive results. A decision to delete always requests new reviews.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { Clock } from '@lapse/base/clock';
import { type Millis, seconds } from '@lapse/base/instant';
import type { Client } from '@lapse/kube/client/client';
import { describeMissing, type Need, reviewSelf, reviewSubject, type Subject } from './accessReview.ts';

/** How long a positive review is reused. */
const REUSED: Millis = seconds(30);
const MOST_REUSED = 10_000;

export class ReviewCache {
  readonly #client: Pick<Client, 'create'>;
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When each positive review expires, in monotonic time. */
  readonly #expiries = new BoundedMap<string, number>(MOST_REUSED);

  /** `client`: sends the reviews as Lapse. */
  constructor(client: Pick<Client, 'create'>, clock: Pick<Clock, 'elapsed'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Returns why the subject may not do all of this, or undefined. `fresh`: do not use cached reviews. */
  async refusal(subject: Subject, needs: readonly Need[], fresh: boolean): Promise<string | undefined> {
    const now = this.#clock.elapsed();
    const asked = needs.filter((need) => fresh || !this.#isKnown(idOf(subject, need), now));
    const missing = await reviewSubject(this.#client, subject, asked);
    for (const need of asked) if (!missing.includes(need)) this.#remember(idOf(subject, need), now + REUSED);
    return describeMissing(subject, missing);
  }

  /** Returns why Lapse itself may not do all of this, or undefined. */
  async refusalOfLapse(needs: readonly Need[]): Promise<string | undefined> {
    return describeMissing({ username: 'Lapse' }, await reviewSelf(this.#client, needs));
  }

  #isKnown(id: string, now: number): boolean {
    return (this.#expiries.get(id) ?? Number.NEGATIVE_INFINITY) > now;
  }

  #remember(id: string, until: number): void {
    this.#expiries.set(id, until);
  }
}

const idOf = ({ username, groups = [] }: Subject, { verb, group, resource, namespace, name }: Need): string =>
  JSON.stringify([username, groups, verb, group, resource, namespace, name]);
