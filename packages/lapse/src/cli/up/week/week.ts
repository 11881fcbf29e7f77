// The demo of `--speed`: runs the examples through a week, and prints a summary at the end.

import type { Instant } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { UsageError } from '#manager/usage';
import { readExamples } from '../examples.ts';
import type { LocalCluster, LocalClusterOptions } from '../localCluster.ts';
import { Play } from './play.ts';
import { findRemaining, remainingText } from './remaining.ts';
import { writeScript } from './script.ts';

/** Requests have no TTL field. The configuration sets a longer default, which users can override. */
export const WEEK_DEFAULTS = { requestTTL: { ttl: '6h' } };

export function parseSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--seed must be a whole number, got "${text}"`);
  return Number(text);
}

export interface WeekOptions
  extends Pick<LocalClusterOptions, 'clock' | 'general' | 'document' | 'known' | 'selected'> {
  readonly random: Random;
  readonly say: (text: string) => void;
  readonly stamp: (at: Instant) => string;
  /** Width of the terminal. Undefined: lines are not wrapped. */
  readonly columns?: number | undefined;
}

export class Week {
  readonly play: Play;
  readonly #everything: LocalCluster;
  readonly #options: WeekOptions;

  constructor(everything: LocalCluster, options: WeekOptions) {
    const { clock, random, say } = options;
    this.#everything = everything;
    this.#options = options;
    this.play = new Play(writeScript(readExamples(), clock.now(), random), {
      user: everything.user,
      clock,
      onProblem: (example, problem) => say(`          examples/${example} was not applied: ${problem}\n`),
      onEnd: async () => say(`\nthe week is over\n${await this.summary()}\n\n`),
    });
  }

  /** What was deleted, with which delay, and what is left and why. */
  async summary(): Promise<string> {
    const { stamp } = this.#options;
    return `${await this.#everything.summary(stamp)}\n${await this.#left()}`;
  }

  async #left(): Promise<string> {
    const { clock, stamp, columns = Number.POSITIVE_INFINITY, ...options } = this.#options;
    const client = this.#everything.user;
    try {
      const left = await findRemaining(this.play.made, { ...options, client, now: clock.now() });
      return remainingText(left, stamp, columns - 1);
    } catch (cause) {
      return `what is left cannot be said: ${(cause as Error).message}`;
    }
  }
}
