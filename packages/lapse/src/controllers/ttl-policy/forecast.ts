// Forecasts policies: which policies work, and the combined decision about every object that they select. Permissions are
// not reviewed, because a review is a write. The forecast uses the results that admission and the last review recorded.

import { assertNever } from '@lapse/base/assertNever';
import { keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  describeTerminating,
  type ForecastContext,
  nameOf,
  type ObjectName,
  REASONS,
  type Statement,
  Unreadable,
} from '../forecaster.ts';
import type { End } from './combine.ts';
import { decide, describeDecisions, type Seen } from './decide.ts';
import { applyLimits } from './forecastLimits.ts';
import { type Assessed, type Assessment, assessPolicies, type ReadyPolicy } from './forecastPolicies.ts';
import { resourceId } from './keys.ts';
import { isInScope } from './scope.ts';
import { NAMESPACES } from './sources.ts';

type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;
type SeenByReady = Seen<ReadyPolicy>;

export async function* forecastPolicies(forecastContext: ForecastContext): AsyncGenerator<Statement> {
  const assessment = await assessPolicies(forecastContext);
  const { assessed } = assessment;
  for (const { policy, of, standing, rule, because } of assessed)
    if (standing !== 'ready') yield { kind: 'held', object: nameOf(of, policy), rule, because };
  const byResource = Map.groupBy(
    assessed.flatMap(({ ready }) => ready ?? []),
    ({ kind }) => resourceId(kind),
  );
  for (const policies of byResource.values())
    try {
      yield* applyLimits(
        forecastContext,
        assessed.filter(({ ready }) => ready !== undefined && policies.includes(ready)),
        forecastTargets(forecastContext, assessment, policies),
      );
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      yield* unreadable(assessed, policies, error.message);
    }
}

/** Policies whose targets cannot be read delete nothing. */
const unreadable = (
  assessed: readonly Assessed[],
  policies: readonly ReadyPolicy[],
  because: string,
): Statement[] =>
  assessed
    .filter(({ ready }) => ready !== undefined && policies.includes(ready))
    .map(({ of, policy, rule }) => ({ kind: 'held', object: nameOf(of, policy), rule, because }));

async function* forecastTargets(
  forecastContext: ForecastContext,
  assessment: Assessment,
  policies: readonly ReadyPolicy[],
): AsyncGenerator<Statement> {
  const labels = policies.some(({ namespaceLabels }) => namespaceLabels !== undefined)
    ? await readNamespaces(forecastContext)
    : new Map();
  for await (const seen of eachTarget(forecastContext, policies, labels)) {
    const [{ object, policy }] = seen as [SeenByReady];
    yield statementAbout(nameOf(policy.kind, object), seen, { forecastContext, assessment });
  }
}

async function readNamespaces({ snapshot }: ForecastContext): Promise<NamespaceLabels> {
  const all = await snapshot.list(NAMESPACES);
  return new Map(all.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
}

/** Every selected object, with all policies that select it. */
async function* eachTarget(
  { snapshot }: ForecastContext,
  policies: readonly ReadyPolicy[],
  labels: NamespaceLabels,
): AsyncGenerator<SeenByReady[]> {
  const byKey = new Map<string, SeenByReady[]>();
  for (const policy of policies)
    for await (const page of snapshot.each(policy.source))
      for (const object of page) {
        if (!isInScope(policy, keyOf(object), (name) => labels.get(name))) continue;
        const seen = { policy, object };
        // With a single policy, objects need not be collected first.
        if (policies.length === 1) yield [seen];
        else addSeen(byKey, seen);
      }
  yield* byKey.values();
}

function addSeen(byKey: Map<string, SeenByReady[]>, seen: SeenByReady): void {
  const { namespace = '', name } = keyOf(seen.object);
  const known = byKey.get(`${namespace}/${name}`);
  if (known === undefined) byKey.set(`${namespace}/${name}`, [seen]);
  else known.push(seen);
}

interface Context {
  readonly forecastContext: ForecastContext;
  readonly assessment: Assessment;
}

function statementAbout(object: ObjectName, seen: readonly SeenByReady[], context: Context): Statement {
  const { now, tolerance } = context.forecastContext;
  const end = decide(seen, { now, tolerance });
  const policies = seen.map(({ policy }) => policy.name);
  const about = { object, rule: policies.join(', '), ...(policies.length > 1 ? { policies } : {}) };
  switch (end.kind) {
    case 'none':
      return { kind: 'kept', ...about, because: describeNone(end.decisions) };
    case 'kept':
      return statementOnKept(about, end, seen[0]!.object);
    case 'waiting':
    case 'expired':
      return statementOnEnd(about, seen, end, context);
    default:
      return assertNever(end);
  }
}

/** Policies that ignore the object give their reason; the others have no TTL for its outcome. */
function describeNone(decisions: Extract<End, { kind: 'none' }>['decisions']): string {
  const ignoring = decisions.filter(({ expiry }) => expiry.kind === 'leftAlone');
  return ignoring.length === 0 ? 'there is no TTL for its outcome' : describeDecisions(ignoring);
}

type About = Pick<Statement, 'object' | 'rule' | 'policies'>;

function statementOnKept(
  about: About,
  { because, decisions }: Extract<End, { kind: 'kept' }>,
  object: KubeObject,
): Statement {
  switch (because) {
    case 'unfinished':
      return { kind: 'kept', ...about, because: describeDecisions(decisions), reason: REASONS[because] };
    case 'being deleted':
      return { kind: 'held', ...about, because: describeTerminating(object), reason: REASONS[because] };
    case 'opted out':
    case 'invalid TTL':
    case 'finish time unknown':
      return { kind: 'held', ...about, because: describeDecisions(decisions), reason: REASONS[because] };
    case 'error':
      return { kind: 'held', ...about, because: describeDecisions(decisions) };
    default:
      return assertNever(because);
  }
}

/** The decision at the deadline, and the policy that will act. */
function statementOnEnd(
  about: About,
  seen: readonly SeenByReady[],
  end: Extract<End<ReadyPolicy>, { kind: 'waiting' | 'expired' }>,
  { forecastContext, assessment }: Context,
): Statement {
  const because = describeDecisions(end.decisions);
  const last = forecast(seen, end, forecastContext);
  if (last.kind !== 'expired') return { kind: 'held', ...about, because };
  const { by, since } = last;
  const acting = { ...about, rule: by.name };
  const obstacle = assessment.obstacleFor(by.kind, about.object.namespace);
  if (obstacle?.kind === 'lasting') return { kind: 'held', ...acting, because: obstacle.note };
  if (by.mode !== 'Enforce')
    return {
      kind: 'held',
      ...acting,
      because: `${HOLDS[by.mode]}; ${because}`,
      reason: by.mode,
      until: since,
    };
  const pace = by.perMinute === undefined ? '' : `; at most ${by.perMinute} per minute`;
  return {
    kind: 'deleted',
    ...acting,
    at: since,
    because: `${because}${pace}`,
    propagation: by.propagation,
  };
}

const HOLDS = {
  DryRun: 'the policy is in mode DryRun',
  Paused: 'the policy is in mode Paused',
} as const;

function forecast(
  seen: readonly SeenByReady[],
  end: End<ReadyPolicy>,
  { tolerance }: Pick<ForecastContext, 'tolerance'>,
): End<ReadyPolicy> {
  let ahead = end;
  // A finish that is too far in the future is evaluated again when it is trusted.
  for (let i = 0; i < seen.length + 2 && ahead.kind === 'waiting'; i++)
    ahead = decide(seen, { now: ahead.until, tolerance });
  return ahead;
}
