// Limits the number of update entries in managedFields: the oldest ones are merged into one manager.

import { FieldSet } from './fieldSet.ts';
import type { Managed, Manager } from './managedFields.ts';
import { identityOf } from './managedFields.ts';

const MAX_UPDATERS = 10;
const OLD = 'ancient-changes';

export function capUpdaters(managed: Managed): Managed {
  const updaters = [...managed.fields.keys()].filter(
    (id) => managed.managers.get(id)?.operation === 'Update',
  );
  if (updaters.length <= MAX_UPDATERS) return managed;
  const timeOf = (id: string) => managed.times.get(id) ?? '';
  updaters.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : a < b ? -1 : 1));
  return new Merge(managed).run(updaters);
}

class Merge {
  readonly #fields: Map<string, FieldSet>;
  readonly #managers: Map<string, Manager>;
  readonly #times: Map<string, string>;
  /** The oldest entry of each version, to be merged with the next one. */
  readonly #first = new Map<string, string>();

  constructor({ fields, managers, times }: Managed) {
    this.#fields = new Map(fields);
    this.#managers = new Map(managers);
    this.#times = new Map(times);
  }

  run(updaters: readonly string[]): Managed {
    let count = updaters.length;
    for (const id of updaters) {
      if (count <= MAX_UPDATERS) break;
      const { apiVersion } = this.#managers.get(id)!;
      const first = this.#first.get(apiVersion);
      if (first === undefined) this.#first.set(apiVersion, id);
      else {
        this.#join(first, id, apiVersion);
        count--;
      }
    }
    return { fields: this.#fields, managers: this.#managers, times: this.#times };
  }

  #join(first: string, id: string, apiVersion: string): void {
    const old: Manager = { manager: OLD, operation: 'Update', apiVersion, subresource: '' };
    const bucket = identityOf(old);
    if (!this.#fields.has(bucket)) {
      this.#fields.set(bucket, this.#fields.get(first) ?? FieldSet.EMPTY);
      this.#managers.set(bucket, old);
      if (first !== bucket) this.#fields.delete(first);
    }
    this.#fields.set(bucket, this.#fields.get(id)!.union(this.#fields.get(bucket)!));
    if (id !== bucket) this.#fields.delete(id);
    const time = this.#times.get(id);
    if (time !== undefined) this.#times.set(bucket, time);
  }
}
