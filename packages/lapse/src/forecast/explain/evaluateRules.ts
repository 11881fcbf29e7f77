// Evaluates the rules of all families for one object: the active ones, and those that are disabled. Reads that two
// evaluations share are made once.

import type { KubeObject } from '@lapse/kube/api/object';
import { describeSource, type Source } from '@lapse/runtime/source';
import type { Family } from '#controllers/family';
import type { ForecastContext, ObjectName, Statement } from '#controllers/forecaster';
import { computeGates } from '#manager/selection';
import { collectForecasts, type Forecast, type Setting } from '../forecast.ts';
import { createSnapshot, type Read } from '../snapshot.ts';
import type { RuleDecision } from './explanation.ts';
import { findNonMatchingPolicies } from './findNonMatchingPolicies.ts';
import type { RuleContext } from './ruleContext.ts';

/** Reads the same source once, for all rules and objects. */
export function readingOnce(read: Read): Read {
  const kept = new Map<string, { projection: unknown; objects: Promise<KubeObject[]> }>();
  return <T extends KubeObject>(source: Source<T>): Promise<T[]> => {
    const id = describeSource(source as unknown as Source);
    const known = kept.get(id);
    if (known !== undefined && known.projection === source.projection)
      return known.objects as unknown as Promise<T[]>;
    const objects = read(source);
    kept.set(id, { projection: source.projection, objects: objects as unknown as Promise<KubeObject[]> });
    return objects;
  };
}

/** An explanation needs the object in any state. Rules select only some states. */
const inAnyState =
  (read: Read): Read =>
  (source) => {
    const [, named] = /,(metadata\.name=[^,]+)$/.exec(source.fieldSelector ?? '') ?? [];
    return read(named === undefined ? source : { ...source, fieldSelector: named });
  };

/** All statements while this object is in focus, about any object. */
async function* statementsAbout(
  context: RuleContext,
  families: readonly Family[],
  object: ObjectName,
  { endOf, gates = {} }: { endOf: ForecastContext['endOf']; gates?: Readonly<Record<string, boolean>> },
): AsyncGenerator<Forecast> {
  const { served, read, general, onUnread } = context;
  const [group] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : [''];
  const { kind, name, namespace } = object;
  const focus = { group: group!, kind, name, ...(namespace === undefined ? {} : { namespace }) };
  const setting: Setting = {
    ...context,
    general: { ...general, featureGates: { ...general.featureGates, ...gates } },
    snapshot: createSnapshot(served, inAnyState(read), focus),
  };
  yield* collectForecasts(setting, families, { endOf }, onUnread);
}

/** The decisions of the active rules for the object, and policies for its kind that do not match it. */
export async function evaluateRules(
  context: RuleContext,
  object: ObjectName,
  endOf: ForecastContext['endOf'],
): Promise<RuleDecision[]> {
  const ruleDecisions: RuleDecision[] = [];
  const broken = new Map<string, string>();
  for await (const { family, statement } of statementsAbout(context, context.selected, object, { endOf })) {
    if (isAbout(statement, object)) ruleDecisions.push(decisionOf(family, statement));
    else if (statement.kind === 'held') broken.set(statement.object.uid, statement.because);
  }
  return [...ruleDecisions, ...(await findNonMatchingPolicies(context, object, ruleDecisions, broken))];
}

/** The decisions of disabled rules: a family that does not run, a disabled feature gate. */
export async function evaluateDisabledRules(
  context: RuleContext,
  object: ObjectName,
  awake: readonly RuleDecision[],
): Promise<RuleDecision[]> {
  const ruleDecisions: RuleDecision[] = [];
  // With an additional gate enabled, all other statements are repeated.
  const said = new Set(awake.map(({ rule, family }) => `${family} ${rule}`));
  const listen = async (family: Family, enableWith: string, gates: Readonly<Record<string, boolean>>) => {
    for await (const { statement } of statementsAbout(context, [family], object, {
      endOf: () => undefined,
      gates,
    }))
      if (isAbout(statement, object) && !said.has(`${family.name} ${statement.rule}`) && !isIdle(statement))
        ruleDecisions.push({ ...decisionOf(family.name, statement), enableWith });
  };
  const states = computeGates(context.known, context.general.featureGates);
  for (const family of context.known) {
    if (family.forecaster === undefined) continue;
    if (!context.selected.includes(family)) await listen(family, `--controllers=*,${family.name}`, {});
    else
      for (const { name } of family.gates)
        if (states.get(name) === false)
          await listen(family, `--feature-gates=${name}=true`, { [name]: true });
  }
  return ruleDecisions;
}

/** A rule that the object never uses makes no difference, enabled or not. */
const isIdle = ({ kind, reason }: Statement): boolean => kind === 'kept' && reason === 'NoTTL';

const isAbout = ({ object }: Statement, { uid }: ObjectName): boolean => object.uid === uid;

function decisionOf(family: string, statement: Statement): RuleDecision {
  const { rule, policies, because, reason, kind: says } = statement;
  const base = {
    family,
    rule,
    says,
    because,
    ...(reason === undefined ? {} : { reason }),
    ...(policies === undefined ? {} : { policies }),
  };
  switch (statement.kind) {
    case 'deleted':
      return {
        ...base,
        at: statement.at,
        ...(statement.propagation === undefined ? {} : { propagation: statement.propagation }),
      };
    case 'changes':
      return { ...base, at: statement.at };
    case 'held':
      return statement.until === undefined ? base : { ...base, at: statement.until };
    case 'kept':
      return base;
  }
}
