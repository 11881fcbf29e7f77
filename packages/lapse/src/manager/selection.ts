// Selects families and feature gates: `--controllers` with the semantics of kube-controller-manager,
// `--feature-gates` with those of all Kubernetes components.

import type { Family, Gate } from '#controllers/family';
import { UsageError } from './usage.ts';

/** The first entry that names a family decides. `*` stands for those enabled by default. */
export function selectFamilies<F extends { readonly name: string; readonly defaultOn: boolean }>(
  families: readonly F[],
  words: readonly string[],
): F[] {
  const names = families.map(({ name }) => name);
  for (const word of words) {
    if (word === '*') continue;
    if (!names.includes(word.replace(/^-/, '')))
      throw new UsageError(`--controllers: "${word}" is none of ${['*', ...names].join(', ')}`);
  }
  return families.filter(({ name, defaultOn }) => {
    const explicit = words.find((word) => word === name || word === `-${name}`);
    return explicit === undefined ? words.includes('*') && defaultOn : explicit === name;
  });
}

const ALL: Readonly<Record<string, Gate['stage']>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

/** The state of every gate. Throws a UsageError for an unknown gate. */
export function computeGates(
  families: readonly Family[],
  asked: Readonly<Record<string, boolean>>,
): ReadonlyMap<string, boolean> {
  const gates = families.flatMap((family) => family.gates);
  const known = new Set([...gates.map(({ name }) => name), ...Object.keys(ALL)]);
  const unknown = Object.keys(asked).filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new UsageError(
      `--feature-gates: "${unknown.join('", "')}" is none of ${[...known].sort().join(', ')}`,
    );
  const stateOf = ({ name, stage, default: usual }: Gate): boolean => {
    const all = Object.keys(ALL).find((word) => ALL[word] === stage);
    return asked[name] ?? (all === undefined ? undefined : asked[all]) ?? usual;
  };
  return new Map(gates.map((gate) => [gate.name, stateOf(gate)]));
}
