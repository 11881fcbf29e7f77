// Forecasts keepers: when their TTL expires or, for keepers that follow an object, when that object is deleted.

import type { Instant } from '@lapse/base/instant';
import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Projection } from '@lapse/runtime/source';
import { ObjectKeeper } from '#api/objectKeeper';
import { KeeperReason } from '#api/storage/conditions';
import {
  describeTerminating,
  type ForecastContext,
  type Forecaster,
  isServed,
  nameOf,
  type Statement,
} from '../forecaster.ts';
import { followedResources } from './controller.ts';
import { computeOrder, computePlan, computeRule, type Followed } from './decide.ts';
import { crdNameOf, type FollowRule, mayHaveCrd } from './gather.ts';

export const forecastKeepers: Forecaster = {
  followsOthers: true,
  async *forecast(forecastContext) {
    const { snapshot } = forecastContext;
    if (!isServed(snapshot, ObjectKeeper)) return;
    const { mayEndAt = () => undefined } = forecastContext;
    const certain = new Followeds(forecastContext);
    const uncertain = new Followeds({ ...forecastContext, endOf: mayEndAt });
    for await (const page of snapshot.each({ kind: ObjectKeeper }))
      for (const keeper of page) {
        if (mayEndAt(keeper.spec?.followObjectRef?.uid ?? '') !== undefined) {
          const early = await statementAbout(keeper, forecastContext, uncertain);
          if (early.kind === 'deleted') yield { ...early, uncertain: true };
        }
        yield await statementAbout(keeper, forecastContext, certain);
      }
  },
};

async function statementAbout(
  keeper: ObjectKeeper,
  { now }: ForecastContext,
  followeds: Followeds,
): Promise<Statement> {
  const object = nameOf(ObjectKeeper, keeper);
  const rule = computeRule(keeper);
  const about = { object, rule: `spec.mode ${keeper.spec?.mode}` };
  if (keeper.metadata.deletionTimestamp !== undefined)
    return { kind: 'held', ...about, because: describeTerminating(keeper), reason: 'Terminating' };
  if (rule.kind === 'invalid') return { kind: 'held', ...about, because: rule.message };
  const ends = (at: Instant, because: string): Statement => ({
    kind: 'deleted',
    ...about,
    at,
    because,
  });
  if (rule.kind === 'ttl') {
    const plan = computePlan(rule, undefined, { keeper, now, blind: false });
    const at = plan.kind === 'delete' ? plan.since : plan.until;
    const because = `created ${keeper.metadata.creationTimestamp}, TTL ${keeper.spec?.ttl}`;
    return at === undefined ? { kind: 'kept', ...about, because } : ends(at, because);
  }
  const { ref } = rule;
  const what = `${ref.kind} ${ref.namespace ? `${ref.namespace}/` : ''}${ref.name}`;
  const { followed, since } = await followeds.find(rule, keeper);
  if (followed.kind === 'unclear') return { kind: 'held', ...about, because: followed.message };
  if (followed.kind === 'exists') return { kind: 'kept', ...about, because: `follows ${what}, which exists` };
  const at = endAfterLoss(rule, followed, keeper, since);
  const after =
    keeper.spec?.ttl === undefined || rule.after === undefined ? '' : `, and ${keeper.spec.ttl} after it`;
  return ends(at, `follows ${what}: ${followed.why}${after}`);
}

/** The loss is found and recorded at `since`; the deadline follows from that. */
function endAfterLoss(rule: FollowRule, followed: Followed, keeper: ObjectKeeper, since: Instant): Instant {
  const plan = computePlan(rule, followed, { keeper, now: since, blind: false, stamp: since });
  return plan.kind === 'delete' ? plan.since : (plan.until ?? since);
}

interface Lookup {
  readonly followed: Followed;
  /** When this state starts. */
  readonly since: Instant;
}

/** Like gather.ts, on a snapshot: an object that disappeared together with its kind may come back. */
class Followeds {
  readonly #forecastContext: ForecastContext;
  readonly #resources: ReadonlySet<string>;
  readonly #uids = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(forecastContext: ForecastContext) {
    this.#forecastContext = forecastContext;
    const { follow } = forecastContext.configuration.objectKeeper ?? {};
    const texts = Array.isArray(follow) ? follow.filter((name) => typeof name === 'string') : [];
    this.#resources = new Set(followedResources(texts));
  }

  async find({ ref, group, version }: FollowRule, keeper: ObjectKeeper): Promise<Lookup> {
    const { snapshot, now, endOf } = this.#forecastContext;
    const unclear = (reason: KeeperReason, message: string): Lookup => ({
      followed: { kind: 'unclear', reason, message },
      since: now,
    });
    const versions = snapshot.served.filter((kind) => kind.group === group && kind.kind === ref.kind);
    const served = versions.find((kind) => kind.version === version) ?? versions[0];
    if (served === undefined)
      return unclear(KeeperReason.KindNotServed, `${ref.apiVersion} ${ref.kind} is not served`);
    if (!this.#resources.has(resourceText(served)))
      return unclear(
        KeeperReason.LookupRefused,
        `Lapse may not read ${resourceText(served)}; add it to objectKeeper.follow`,
      );
    const isThere = (await this.#uidsOf(served)).has(ref.uid);
    const end = isThere ? endOf(ref.uid) : now;
    if (end === undefined) return { followed: { kind: 'exists' }, since: now };
    if (await this.#isCrdRecreated(served, keeper)) {
      const message = `the CRD of ${ref.kind} was recreated after this keeper was created; delete the keeper if ${ref.name} is gone`;
      return unclear(KeeperReason.KindRecreated, message);
    }
    const why = isThere ? 'it is deleted then' : `${ref.kind} ${ref.name} does not exist`;
    return { followed: { kind: 'lost', why }, since: end };
  }

  #uidsOf(kind: Kind): Promise<ReadonlySet<string>> {
    const { snapshot } = this.#forecastContext;
    const id = crdNameOf(kind);
    const known =
      this.#uids.get(id) ??
      snapshot
        .list({ kind: metadataOf(kind) as Kind, projection: uidOnly })
        .then((all) => new Set(all.map(({ metadata }) => metadata.uid ?? '')));
    this.#uids.set(id, known);
    return known;
  }

  async #isCrdRecreated(kind: Kind, keeper: ObjectKeeper): Promise<boolean> {
    const { snapshot } = this.#forecastContext;
    if (!mayHaveCrd(kind) || !isServed(snapshot, CustomResourceDefinition)) return false;
    const all = await snapshot.list({
      kind: metadataOf(CustomResourceDefinition) as Kind,
      projection: creationOnly,
    });
    const crd = all.find(({ metadata }) => metadata.name === crdNameOf(kind));
    return crd !== undefined && computeOrder(crd, keeper) === 'after';
  }
}

/** The resource as in the configuration: `configmaps`, `runs.example.com`. */
const resourceText = ({ resource, group }: Kind): string =>
  group === '' ? resource : `${resource}.${group}`;

const uidOnly: Projection<KubeObject> = {
  name: 'uid',
  project: ({ apiVersion, kind, metadata: { uid = '' } }) => ({ apiVersion, kind, metadata: { uid } }),
};

const creationOnly: Projection<KubeObject> = {
  name: 'creation',
  project: ({ apiVersion, kind, metadata: { name = '', creationTimestamp = '' } }) => ({
    apiVersion,
    kind,
    metadata: { name, creationTimestamp },
  }),
};
