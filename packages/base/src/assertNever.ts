/** Marks the place a switch over a union cannot reach; the compiler lists it when a case is added. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
