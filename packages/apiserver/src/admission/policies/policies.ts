// Evaluates ValidatingAdmissionPolicies for a write: every matching policy, with each matching binding, for each
// parameter of the binding. The first denial is the response; other failures become warnings.

import { nextTurn } from '@lapse/base/turn';
import { forbidden, notFound } from '@lapse/kube/api/errors';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { asJson } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import { type Call, isOfCollection, namespaceOf } from '../../context.ts';
import { checkDeadline } from '../../http/deadline.ts';
import type { Resource } from '../../resources/resource.ts';
import { authorizerBindings, objectBindings, seenAs } from '../webhooks/inputs.ts';
import { isSelected, ruledAs } from '../webhooks/matching.ts';
import { requestOf } from '../webhooks/review.ts';
import type { Write } from '../write.ts';
import { type Denial, decide, type Input } from './evaluate.ts';
import { collectParams, paramResource } from './params.ts';
import { type Binding, type BoundPolicy, boundPolicies, type Policy, type PolicyCriteria } from './policy.ts';

// Policies never apply to policies: otherwise a policy could deny its own deletion.
const EXEMPT = /^(validating|mutating)admissionpolic(ies|ybindings)$/;
const isExempt = ({ group, plural }: Resource): boolean =>
  group === 'admissionregistration.k8s.io' && EXEMPT.test(plural);

interface Denied {
  readonly policy: Policy;
  /** Undefined when the policy itself is invalid. */
  readonly binding: Binding | undefined;
  readonly denial: Denial;
}

/** Throws the denial of the first policy. */
export async function runPolicies(call: Call, write: Write): Promise<void> {
  if (isExempt(call.resource)) return;
  let first: Denied | undefined;
  for (const bound of boundPolicies(call.core.store)) {
    const as = matchedAs(bound.policy.criteria, call, write);
    if (as === undefined) continue;
    for await (const denied of runPolicy(call, write, { bound, as })) first ??= denied;
  }
  if (first) throw refusal(call, write, first);
}

/** The resource that the criteria match: the requested one or an equivalent one. */
function matchedAs(criteria: PolicyCriteria, call: Call, write: Write): Resource | undefined {
  if (!isSelected(criteria, call, write)) return undefined;
  const { rules, excluded, matchPolicy } = criteria;
  if (ruledAs({ rules: excluded, matchPolicy }, call, write)) return undefined;
  return rules.length === 0 ? call.resource : ruledAs(criteria, call, write);
}

interface Matched {
  readonly bound: BoundPolicy;
  readonly as: Resource;
}

async function* runPolicy(
  call: Call,
  write: Write,
  { bound: { policy, bindings }, as }: Matched,
): AsyncGenerator<Denied> {
  const misconfigured = (binding: Binding | undefined, why: string): Denied[] => {
    const message = `failed to configure ${binding ? 'binding' : 'policy'}: ${why}`;
    return policy.ignoresFailure ? [] : [{ policy, binding, denial: { message, reason: 'Invalid' } }];
  };
  const params = paramResource(call.core, policy);
  if ('why' in params) {
    yield* misconfigured(undefined, params.why);
    return;
  }
  const inputs = new Inputs(call, write, as);
  for (const binding of bindings) {
    if (binding.criteria && !matchedAs(binding.criteria, call, write)) continue;
    const found = collectParams(call.core, params.resource, binding.paramRef, namespaceOf(call, write.name));
    if (found.kind === 'error') yield* misconfigured(binding, found.why);
    else yield* runBinding(call, { policy, binding, inputs, params: found.objects });
  }
}

interface BindingRun {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly inputs: Inputs;
  readonly params: readonly (JsonObject | null)[];
}

/** Evaluates the policy once for each parameter object. */
async function* runBinding(
  call: Call,
  { policy, binding, inputs, params }: BindingRun,
): AsyncGenerator<Denied> {
  for (const [i, param] of params.entries()) {
    // Each evaluation may take a second: lets other requests run in between.
    if (i > 0) await nextTurn();
    checkDeadline(call);
    for (const denial of apply(call, { policy, binding, input: inputs.with(policy, param) }))
      yield { policy, binding, denial };
  }
}

/** Returns a denial or adds a warning. Audit has no effect: there is no audit log. */
function apply(
  call: Call,
  { policy, binding, input }: { policy: Policy; binding: Binding; input: Input },
): Denial[] {
  const { failures, errors } = decide(policy, input);
  if (binding.actions.includes('Warn')) {
    const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
    for (const { message } of failures) call.warnings.push(`Validation failed for ${who}: ${message}`);
  }
  return binding.actions.includes('Deny') ? [...failures, ...errors] : [...errors];
}

/** The variables of a policy for one write as one resource; created when the first expression is evaluated. */
class Inputs {
  readonly #call: Call;
  readonly #write: Write;
  readonly #as: Resource;
  #made: Input | undefined;

  constructor(call: Call, write: Write, as: Resource) {
    this.#call = call;
    this.#write = write;
    this.#as = as;
  }

  with({ paramKind }: Policy, params: JsonObject | null): Input {
    this.#made ??= this.#make();
    const { common } = this.#made;
    return paramKind ? { ...this.#made, common: { ...common, params } } : this.#made;
  }

  #make(): Input {
    const call = this.#call;
    const seen = seenAs(call, this.#write, this.#as);
    return {
      common: objectBindings(seen, requestOf(call, seen, { uid: '', as: this.#as })),
      namespaceObject: { namespaceObject: namespaceObject(call) },
      authorizer: authorizerBindings(call, seen),
    };
  }
}

// The fields of a namespace that Kubernetes exposes.
const SHOWN = [
  'name generateName namespace uid resourceVersion generation creationTimestamp deletionTimestamp',
  'deletionGracePeriodSeconds labels annotations finalizers',
]
  .join(' ')
  .split(' ');

/** The namespace of the object; null for cluster-scoped resources, Namespaces included. */
function namespaceObject({ core, namespace }: Call): Json {
  if (!namespace) return null;
  const stored = core.store.get('namespaces', namespace);
  if (!stored) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  const { metadata = {}, spec = {}, status = {} } = asJson(stored.object);
  const shown = Object.entries(metadata as JsonObject).filter(([field]) => SHOWN.includes(field));
  return { metadata: Object.fromEntries(shown), spec, status };
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 };

function refusal(call: Call, write: Write, { policy, binding, denial }: Denied): ApiError {
  const bound = binding ? ` with binding '${binding.name}'` : '';
  const message = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${denial.message}`;
  const name = isOfCollection(call, write) ? 'Unknown' : write.name;
  const error = forbidden(call.resource, name, message);
  error.status.reason = denial.reason;
  error.status.code = CODES[denial.reason] ?? 422;
  error.status.details!.causes = [{ message }];
  return error;
}
