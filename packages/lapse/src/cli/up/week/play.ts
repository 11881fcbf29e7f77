// Plays a script on a clock, through the API like anybody else. What the server does not take is said once, and whatever
// else belongs to that example is then left out: without its controller, say, a kind is not served on any day.

import type { Clock } from '@lapse/base/clock';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { applyOnce, applyPatiently } from '../apply.ts';
import type { Act, Script } from './script.ts';

export interface PlayOptions {
  readonly user: Client;
  readonly clock: Clock;
  readonly onProblem: (example: string, problem: string) => void;
  /** The last instant of the week has come. */
  readonly onEnd: () => void | Promise<void>;
}

export class Play {
  readonly script: Script;
  readonly #options: PlayOptions;
  readonly #refused = new Set<string>();
  readonly #made = new Map<string, KubeObject>();
  readonly #cancels: (() => void)[] = [];

  constructor(script: Script, options: PlayOptions) {
    this.script = script;
    this.#options = options;
  }

  /** Everything that was applied, each object once. */
  get made(): readonly KubeObject[] {
    return [...this.#made.values()];
  }

  /** What is there from the beginning; before time runs fast. */
  async open(isOver: () => boolean): Promise<void> {
    for (const act of this.script.opening) {
      if (isOver()) return;
      await this.#apply(act, applyPatiently);
    }
  }

  begin(): void {
    const { clock, onEnd } = this.#options;
    const { acts, end } = this.script;
    this.#cancels.push(
      ...acts.map((act) => clock.wakeAt(act.at, () => void this.#apply(act, applyOnce))),
      clock.wakeAt(end, () => void onEnd()),
    );
  }

  /** Nothing more comes. */
  stop(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
  }

  async #apply({ example, objects }: Act, apply: typeof applyOnce): Promise<void> {
    for (const object of objects) {
      const { kind, apiVersion, metadata } = object;
      if (this.#refused.has(example)) return;
      const problem = await apply(this.#options.user, object);
      if (problem === undefined)
        this.#made.set(`${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`, object);
      else {
        this.#refused.add(example);
        this.#options.onProblem(example, problem);
      }
    }
  }
}
