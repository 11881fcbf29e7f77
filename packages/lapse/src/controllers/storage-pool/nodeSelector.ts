// The nodes that a pool selects: nodeLabelSelector AND zones, compiled once per version of a pool. Errors have the
// messages of the label library of Kubernetes. Labels are visited in order, so that the message is deterministic.

import { quoteGo, quoteValue } from '@lapse/kube/api/fieldErrors';
import { checkLabelValue, checkQualifiedName } from '@lapse/kube/api/names';
import type { LabelSelectorSpec, ReplicatedStoragePool } from '#api/replicatedStoragePool';

export const ZONE_LABEL = 'topology.kubernetes.io/zone';

type Labels = Readonly<Record<string, string>>;
interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | '!';
  readonly values: ReadonlySet<string>;
}

export type NodeSelector =
  | { readonly kind: 'selector'; matches(labels: Labels | undefined): boolean; readonly requires: string[] }
  | { readonly kind: 'problem'; readonly message: string };

/** `requires` of a selector for which no single label is required. */
export const ANY_LABEL = '*';
export const labelText = (key: string, value: string): string => `${key}=${value}`;

const compiled = new WeakMap<ReplicatedStoragePool, NodeSelector>();

/** The compiled selector of a pool. Cached objects are immutable, so the result is reused for this version. */
export function nodeSelectorOf(rsp: ReplicatedStoragePool): NodeSelector {
  let selector = compiled.get(rsp);
  if (selector === undefined) {
    selector = compileNodeSelector(rsp.spec);
    compiled.set(rsp, selector);
  }
  return selector;
}

export function compileNodeSelector({
  nodeLabelSelector = {},
  zones = [],
}: Pick<ReplicatedStoragePool['spec'], 'nodeLabelSelector' | 'zones'>): NodeSelector {
  const requirements: Requirement[] = [];
  for (const wanted of wishesOf(nodeLabelSelector)) {
    const problem = OPERATORS.has(wanted.operator)
      ? problemOf(wanted)
      : `${quoteGo(wanted.operator)} is not a valid label selector operator`;
    if (problem !== undefined) return { kind: 'problem', message: `Invalid NodeLabelSelector: ${problem}` };
    requirements.push(requirementOf(wanted));
  }
  if (zones.length > 0) {
    const wanted: Wish = { key: ZONE_LABEL, operator: 'In', values: zones };
    const problem = problemOf(wanted);
    if (problem !== undefined) return { kind: 'problem', message: `Invalid Zones: ${problem}` };
    requirements.push(requirementOf(wanted));
  }
  return {
    kind: 'selector',
    matches: (labels = {}) => requirements.every((requirement) => meets(requirement, labels)),
    requires: requiredLabels(requirements),
  };
}

interface Wish {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const OPERATORS = new Map<string, Requirement['operator']>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

function wishesOf({ matchLabels = {}, matchExpressions = [] }: LabelSelectorSpec): Wish[] {
  const equalities = Object.keys(matchLabels)
    .sort()
    .map((key) => ({ key, operator: 'In', values: [matchLabels[key]!] }));
  return [...equalities, ...matchExpressions.map(({ values = [], ...wish }) => ({ ...wish, values }))];
}

const requirementOf = ({ key, operator, values }: Wish): Requirement => ({
  key,
  operator: OPERATORS.get(operator)!,
  values: new Set(values),
});

/** All errors of one requirement, in the format of apimachinery. */
function problemOf({ key, operator, values }: Wish): string | undefined {
  const problems: string[] = [];
  const invalid = (field: string, value: string, why: string) =>
    problems.push(`${field}: Invalid value: ${value}: ${why}`);
  const wrongKey = checkQualifiedName(key);
  if (wrongKey.length > 0) invalid('key', quoteGo(key), wrongKey.join('; '));
  const listed = operator === 'In' || operator === 'NotIn';
  if (listed && values.length === 0)
    invalid('values', 'null', "for 'in', 'notin' operators, values set can't be empty");
  if (!listed && values.length > 0)
    invalid('values', quoteValue([...values]), 'values set must be empty for exists and does not exist');
  values.forEach((value, i) => {
    const wrong = checkLabelValue(value);
    if (wrong.length > 0) invalid(`values[${i}][${key}]`, quoteGo(value), wrong.join('; '));
  });
  if (problems.length < 2) return problems[0];
  return `[${[...new Set(problems)].join(', ')}]`;
}

function meets({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
      return value !== undefined && values.has(value);
    case 'notin':
      return value === undefined || !values.has(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
  }
}

/** Labels of which a node must have one to be selected: the shortest list of any requirement. */
function requiredLabels(requirements: readonly Requirement[]): string[] {
  let best: Requirement | undefined;
  for (const requirement of requirements)
    if (requirement.operator === 'in' && (best === undefined || requirement.values.size < best.values.size))
      best = requirement;
  const { key = '', values = [] } = best ?? {};
  return best === undefined ? [ANY_LABEL] : [...values].map((value) => labelText(key, value));
}
