// Runs a script on a clock through the API. An object that the API server rejects is reported once, and the rest of
// its example is skipped: for example, without its controller a kind is never served.

import type { Clock } from '@lapse/base/clock';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { applyOnce, applyWithRetries } from '../apply.ts';
import type { Act, Script } from './script.ts';

export interface PlayOptions {
  readonly user: Client;
  readonly clock: Clock;
  readonly onProblem: (example: string, problem: string) => void;
  /** Called at the end of the week. */
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

  /** All applied objects, each once. */
  get made(): readonly KubeObject[] {
    return [...this.#made.values()];
  }

  /** Applies what exists from the start, before time runs fast. */
  async open(isOver: () => boolean): Promise<void> {
    for (const act of this.script.opening) {
      if (isOver()) return;
      await this.#apply(act, applyWithRetries);
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

  /** Applies nothing more. */
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
