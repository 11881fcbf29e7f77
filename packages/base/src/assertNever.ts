/** Asserts that a switch over a union is exhaustive: the compiler reports it when a case is added. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
