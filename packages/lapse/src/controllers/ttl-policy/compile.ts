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
import { buildSelection } from '@lapse/kube/api/labelSelectorQuery';
import { parseApiVersion } from '@lapse/kube/api/object';
import type { LabelSelector } from '@lapse/kube/api/selectors';
import type { Propagation } from '@lapse/kube/client/delete';
import type { ClusterTTLPolicy, ClusterTTLPolicySpec, PolicyMode, TTLPolicy } from '#api/ttlPolicy';
import type { Account } from '#authors/accessReview';
import { mayBelongToJob, type OwnTtl, ownTtlOf } from '#expiry/ownTtl';
import { STATUS_READS } from '#expiry/statusFinish';
import { readLength } from '#expiry/ttlAnnotation';
import { type Limit, parseLimit } from '#limits/limit';
import { compileScope } from './scope.ts';

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
  /** The limit of the spec. */
  readonly limit?: Limit;
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
  const { limit, errors } = parseLimit(spec.limits, 'spec.limits');
  problems.add(...errors);
  if (!MODES.has(spec.mode))
    problems.add(invalid('spec.mode', spec.mode, 'must be DryRun, Enforce or Paused'));
  if (problems.errors.length > 0 || target === undefined || finish === undefined || ttl === undefined)
    return { kind: 'invalid', errors: problems.errors };
  return {
    kind: 'compiled',
    policy: {
      ...compileScope(policy, target, selection.text, namespaces.text),
      finish,
      ...(succeeded === undefined ? {} : { succeeded }),
      ttl,
      allowOverrides: spec.allowOverrides === true,
      mode: spec.mode,
      propagation: spec.propagationPolicy ?? 'Background',
      ...(spec.maxDeletionsPerMinute === undefined ? {} : { perMinute: spec.maxDeletionsPerMinute }),
      ...(limit === undefined ? {} : { limit }),
      ...(account === undefined ? {} : { account }),
      ...compileOwnership(spec, target, readsOf(finish, ttl.kind === 'byOutcome' ? succeeded : undefined)),
    },
  };
}

/** How the policy treats objects with a TTL of their own and Pods of Jobs, and all fields that decisions read. */
function compileOwnership(
  spec: ClusterTTLPolicySpec,
  target: CompiledPolicy['target'],
  reads: readonly ReadPath[] | undefined,
): Pick<CompiledPolicy, 'ownTtl' | 'includeOwned' | 'reads'> {
  const ownTtl = spec.respectOwnTTL === false ? undefined : ownTtlOf(target);
  const includeOwned = spec.includeOwned === true;
  const owners: readonly ReadPath[] =
    mayBelongToJob(target) && !includeOwned ? [['metadata', 'ownerReferences']] : [];
  return {
    ...(ownTtl === undefined ? {} : { ownTtl }),
    includeOwned,
    reads: reads && [...reads, ...(ownTtl?.reads ?? []), ...owners],
  };
}

const MODES = new Set<string>(['DryRun', 'Enforce', 'Paused']);

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
  const [failure] = program.constantFailures;
  if (failure !== undefined) return problems.add(invalid(field, text, failure.errorMessage));
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

function readsOf(finish: FinishRule, succeeded: Program | undefined): readonly ReadPath[] | undefined {
  const usual = finish.kind === 'usual' ? STATUS_READS : [];
  const byFinish = finish.kind === 'expression' ? readPaths(finish.program, 'object') : usual;
  const byOutcome = succeeded === undefined ? [] : readPaths(succeeded, 'object');
  return byFinish && byOutcome && [...byFinish, ...byOutcome];
}
