// Compiles a policy so that it can be evaluated. Admission reports the errors, and reconciles use the result, so every
// admitted policy can be evaluated.

import type { Instant, Millis } from '@lapse/base/instant';
import {
  type CelType,
  compile,
  conditionEnvironment,
  DYN,
  formatType,
  type Program,
  type ReadPath,
  readPaths,
  TIME,
} from '@lapse/cel/cel';
import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { parseApiVersion } from '@lapse/kube/api/object';
import { type LabelSelector, matchesLabels, parseLabelSelector } from '@lapse/kube/api/selectors';
import type { Propagation } from '@lapse/kube/client/delete';
import {
  type ClusterTTLPolicy,
  type ClusterTTLPolicySpec,
  POLICY_DEFAULTS,
  type PolicyMode,
  type TTLPolicy,
} from '#api/ttlPolicy';
import type { Account } from '#authors/accessReview';
import { readLength } from '#expiry/ttlAnnotation';
import { mayBelongToJob, type OwnTtl, ownTtlOf } from './ownTtl.ts';
import { buildSelection } from './selector.ts';

export type AnyPolicy = TTLPolicy | ClusterTTLPolicy;

export type TtlRule =
  | { readonly kind: 'always'; readonly length: Millis }
  | { readonly kind: 'byOutcome'; readonly succeeded?: Millis; readonly failed?: Millis };

export type FinishRule =
  | { readonly kind: 'created' }
  /** Common status fields; see finish.ts. */
  | { readonly kind: 'usual' }
  | { readonly kind: 'expression'; readonly program: Program };

export interface CompiledPolicy {
  /** `TTLPolicy ci/pipeline-runs`. */
  readonly name: string;
  readonly target: { readonly group: string; readonly version: string; readonly kind: string };
  /** The namespace of a TTLPolicy, the only one in which it acts. */
  readonly namespace?: string;
  /** The selector as query text. */
  readonly labelSelector: string;
  readonly labels: LabelSelector;
  /** Set if the policy selects by labels of namespaces. */
  readonly namespaceLabels?: LabelSelector;
  /** Patterns of excluded namespaces. */
  readonly excluded: readonly string[];
  readonly finish: FinishRule;
  readonly succeeded?: Program;
  readonly ttl: TtlRule;
  readonly allowOverrides: boolean;
  /** The TTL that objects of the kind may have themselves; unset if the policy ignores it. */
  readonly ownTtl?: OwnTtl;
  /** Also delete Pods of Jobs. */
  readonly includeOwned: boolean;
  readonly mode: PolicyMode;
  readonly propagation: Propagation;
  readonly perMinute?: number;
  readonly account?: Account;
  /** The fields that decisions read in addition to metadata; undefined: any field. */
  readonly reads: readonly ReadPath[] | undefined;
}

export interface Moment {
  readonly now: Instant;
  /** How far a finish time may lie in the future and still be trusted. */
  readonly tolerance: Millis;
}

export type Compiled =
  | { readonly kind: 'compiled'; readonly policy: CompiledPolicy }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] };

const ENVIRONMENT = conditionEnvironment({ object: DYN });

/** The fields that finish.ts reads without an expression. */
const USUAL_READS: readonly ReadPath[] = [
  ['status', 'completionTime'],
  ['status', 'completionTimestamp'],
  ['status', 'finishedAt'],
  ['status', 'conditions'],
];

class Problems {
  readonly errors: FieldError[] = [];

  add(...errors: readonly FieldError[]): undefined {
    this.errors.push(...errors);
    return undefined;
  }
}

export function compilePolicy(policy: AnyPolicy): Compiled {
  const spec: ClusterTTLPolicySpec = policy.spec ?? {};
  const problems = new Problems();
  const target = compileTarget(spec, problems);
  const selection = buildSelection(spec.selector, 'spec.selector');
  const namespaces = buildSelection(spec.namespaceSelector, 'spec.namespaceSelector');
  problems.add(...selection.errors, ...namespaces.errors);
  const finish = compileFinish(spec, problems);
  const succeeded = compileExpression(spec.succeeded, 'spec.succeeded', OUTCOME_TYPES, problems);
  const ttl = compileTtl(spec, problems);
  const account = compileAccount(policy, spec, problems);
  if (!MODES.has(spec.mode))
    problems.add(invalid('spec.mode', spec.mode, 'must be DryRun, Enforce or Paused'));
  if (problems.errors.length > 0 || target === undefined || finish === undefined || ttl === undefined)
    return { kind: 'invalid', errors: problems.errors };
  const { namespace, name } = policy.metadata;
  const ownTtl = spec.respectOwnTTL === false ? undefined : ownTtlOf(target);
  const includeOwned = spec.includeOwned === true;
  const isLocal = policy.kind === 'TTLPolicy';
  // For Namespaces both selectors apply to the labels of the object itself, in the version that is deleted.
  const both = isNamespace(target) ? [selection.text, namespaces.text] : [selection.text];
  const labelSelector = both.filter((text) => text !== '').join(',');
  return {
    kind: 'compiled',
    policy: {
      name: `${policy.kind} ${isLocal ? `${namespace}/${name}` : name}`,
      target,
      ...(isLocal ? { namespace: namespace ?? '' } : {}),
      labelSelector,
      labels: parseLabelSelector(labelSelector),
      ...(namespaces.text === '' || isNamespace(target)
        ? {}
        : { namespaceLabels: parseLabelSelector(namespaces.text) }),
      excluded: isLocal ? [] : (spec.excludedNamespaces ?? POLICY_DEFAULTS.excludedNamespaces),
      finish,
      ...(succeeded === undefined ? {} : { succeeded }),
      ttl,
      allowOverrides: spec.allowOverrides === true,
      ...(ownTtl === undefined ? {} : { ownTtl }),
      includeOwned,
      mode: spec.mode,
      propagation: spec.propagationPolicy ?? 'Background',
      ...(spec.maxDeletionsPerMinute === undefined ? {} : { perMinute: spec.maxDeletionsPerMinute }),
      ...(account === undefined ? {} : { account }),
      reads: readsOf(finish, ttl.kind === 'byOutcome' ? succeeded : undefined, [
        ...(ownTtl?.reads ?? []),
        ...(mayBelongToJob(target) && !includeOwned ? [['metadata', 'ownerReferences']] : []),
      ]),
    },
  };
}

const MODES = new Set<string>(['DryRun', 'Enforce', 'Paused']);

const isNamespace = ({ group, kind }: CompiledPolicy['target']): boolean =>
  group === '' && kind === 'Namespace';

/**
 * Whether the policy includes the namespace of an object; a Namespace counts as being in itself. `labels` is only called
 * if the policy selects by labels of namespaces.
 */
export function isInScope(
  policy: CompiledPolicy,
  key: ObjectKey,
  labels: (namespace: string) => Readonly<Record<string, string>> | undefined,
): boolean {
  const namespace = isNamespace(policy.target) ? key.name : key.namespace;
  if (namespace === undefined || namespace === '') return policy.namespace === undefined;
  if (policy.namespace !== undefined) return policy.namespace === namespace;
  if (policy.excluded.some((glob) => matchesGlob(glob, namespace))) return false;
  if (policy.namespaceLabels === undefined) return true;
  const found = labels(namespace);
  return found !== undefined && matchesLabels(policy.namespaceLabels, found);
}

/** Whether a name matches a pattern such as `kube-*`. Linear time for any pattern. */
export function matchesGlob(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  if (rest.length === 0) return name === first;
  const last = rest.pop()!;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

function compileTarget(
  { target }: ClusterTTLPolicySpec,
  problems: Problems,
): CompiledPolicy['target'] | undefined {
  const { apiVersion, kind } = target ?? {};
  if (typeof apiVersion !== 'string' || apiVersion === '')
    return problems.add(required('spec.target.apiVersion'));
  if (typeof kind !== 'string' || kind === '') return problems.add(required('spec.target.kind'));
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined || parsed.version === '')
    return problems.add(invalid('spec.target.apiVersion', apiVersion, 'must be group/version, or v1'));
  return { ...parsed, kind };
}

function compileFinish(spec: ClusterTTLPolicySpec, problems: Problems): FinishRule | undefined {
  const program = compileExpression(spec.finishedAt, 'spec.finishedAt', TIME_TYPES, problems);
  if (spec.from === 'Created') return { kind: 'created' };
  if (spec.finishedAt === undefined) return { kind: 'usual' };
  return program === undefined ? undefined : { kind: 'expression', program };
}

const TIME_TYPES = ['dyn', 'any', 'timestamp', 'string', 'null'];
const OUTCOME_TYPES = ['dyn', 'any', 'bool'];

const isOneOf = (type: CelType, kinds: readonly string[]): boolean =>
  kinds.includes(type.kind) || (type.name === 'optional_type' && isOneOf(type.params[0]!, kinds));

function compileExpression(
  text: string | undefined,
  field: string,
  kinds: readonly string[],
  problems: Problems,
): Program | undefined {
  if (text === undefined) return undefined;
  const compiled = compile(text, ENVIRONMENT);
  if (compiled.kind === 'invalid') return problems.add(invalid(field, text, compiled.message));
  const { program } = compiled;
  const [hopeless] = program.hopeless;
  if (hopeless !== undefined) return problems.add(invalid(field, text, hopeless.errorMessage));
  if (program.variables.includes(TIME))
    return problems.add(forbidden(field, 'it may read `object` only, so that time alone changes nothing'));
  if (!isOneOf(program.type, kinds)) {
    const wanted = kinds === TIME_TYPES ? 'a timestamp, a string or null' : 'a bool';
    return problems.add(invalid(field, text, `it is of type ${formatType(program.type)}, not ${wanted}`));
  }
  return program;
}

function compileTtl(spec: ClusterTTLPolicySpec, problems: Problems): TtlRule | undefined {
  const { ttl, ttlAfter } = spec;
  if ((ttl === undefined) === (ttlAfter === undefined))
    return problems.add(invalid('spec.ttl', ttl, 'exactly one of ttl and ttlAfter must be set'));
  if (ttl !== undefined) {
    const length = parseLength(ttl, 'spec.ttl', problems);
    return length === undefined ? undefined : { kind: 'always', length };
  }
  if (spec.succeeded === undefined)
    problems.add(required('spec.succeeded', 'ttlAfter needs it, to tell the outcomes apart'));
  const succeeded = parseLength(ttlAfter?.succeeded, 'spec.ttlAfter.succeeded', problems);
  const failed = parseLength(ttlAfter?.failed, 'spec.ttlAfter.failed', problems);
  if (ttlAfter?.succeeded === undefined && ttlAfter?.failed === undefined)
    return problems.add(required('spec.ttlAfter', 'at least one of succeeded and failed'));
  return {
    kind: 'byOutcome',
    ...(succeeded === undefined ? {} : { succeeded }),
    ...(failed === undefined ? {} : { failed }),
  };
}

/** Parses a non-negative duration. A length below one millisecond counts as one, so that nothing expires early. */
function parseLength(text: string | undefined, field: string, problems: Problems): Millis | undefined {
  if (text === undefined) return undefined;
  const parsed = readLength(text);
  return typeof parsed === 'string' ? problems.add(invalid(field, text, parsed)) : parsed;
}

function compileAccount(
  policy: AnyPolicy,
  spec: ClusterTTLPolicySpec,
  problems: Problems,
): Account | undefined {
  const { serviceAccountName: name } = spec;
  if (policy.kind === 'TTLPolicy')
    return name === undefined ? undefined : { namespace: policy.metadata.namespace ?? '', name };
  const { serviceAccountNamespace: namespace } = spec;
  if ((name === undefined) !== (namespace === undefined))
    return problems.add(
      required('spec.serviceAccountNamespace', 'serviceAccountName and serviceAccountNamespace go together'),
    );
  return name === undefined || namespace === undefined ? undefined : { namespace, name };
}

function readsOf(
  finish: FinishRule,
  succeeded: Program | undefined,
  more: readonly ReadPath[],
): readonly ReadPath[] | undefined {
  const byFinish =
    finish.kind === 'expression'
      ? readPaths(finish.program, 'object')
      : finish.kind === 'usual'
        ? USUAL_READS
        : [];
  const byOutcome = succeeded === undefined ? [] : readPaths(succeeded, 'object');
  return byFinish === undefined || byOutcome === undefined ? undefined : [...byFinish, ...byOutcome, ...more];
}
