// Facts are the fields that a decision reads. An update that changes none of them does not enqueue a key.

import { equal, type Json } from '@lapse/kube/api/json';

/** The facts of an object, as plain JSON; compared by value. Pure. Written as a method, see IndexFunction. */
export type Facts<T> = { facts(object: T): unknown }['facts'];

/** Whether the change affects the facts. Without a facts function every change counts. */
export function factsChanged<T>(
  facts: Facts<T> | undefined,
  before: T | undefined,
  after: T | undefined,
): boolean {
  if (before === undefined || after === undefined || facts === undefined) return true;
  return !equal(facts(before) as Json | undefined, facts(after) as Json | undefined);
}
