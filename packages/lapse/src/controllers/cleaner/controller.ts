// The declaration of the controller: one queue of Cleaners. The objects that conditions read are watched from the end
// of the TTL on, as long as a Cleaner reads them.

import { type ControllerDefinition, defineController, type Right } from '@lapse/runtime/definition';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner } from '#api/cleaner';
import { AUTHOR_ANNOTATION, type AuthorSeal, authorNameIn } from '#authors/authorSeal';
import { AUTHOR_IMPERSONATION, clusterImpersonation, type ImpersonationScope } from '#authors/impersonation';
import { Expirer } from '#deletion/expirer';
import { deletionMetrics } from '#deletion/metrics';
import type { SentDelete } from '#deletion/ownDeletions';
import type { Origin } from '#deletion/trash';
import { TTL_ANNOTATION } from '#expiry/expiry';
import { APPROVAL_ANNOTATION } from '#limits/approval';
import type { Services } from '../family.ts';
import type { CleanerOptions, Context } from './context.ts';
import { DELAY_ANNOTATION } from './delay.ts';
import { cleanerMetrics, type DeletedWhat } from './metrics.ts';
import { cleanerProjection, waitOf } from './projection.ts';
import { createReconcile } from './reconcile.ts';
import { RecordSeal } from './record.ts';
import { Actors } from './rights.ts';
import { Waits } from './waits.ts';
import { Interests } from './watches.ts';

const NAME = 'cleaner';

/** The rights of Lapse itself. Targets and releases are read and deleted with the rights of accounts and authors. */
const RIGHTS: readonly Right[] = [
  { group: Cleaner.group, resource: 'cleaners', verbs: ['get', 'delete'] },
  { group: Cleaner.group, resource: 'cleaners/status', verbs: ['patch'] },
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verbs: ['list', 'watch'] },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'] },
];

export interface CleanerControllerOptions extends CleanerOptions {
  readonly services: Services;
  readonly seal: AuthorSeal;
  readonly concurrency: number;
  readonly defaultAccount?: string;
  readonly requireAuthor: boolean;
  readonly impersonation: ImpersonationScope;
}

export function cleanerController(options: CleanerControllerOptions): ControllerDefinition<Cleaner> {
  const { services, concurrency } = options;
  const context = createContext(options);
  const { namespace } = services;
  return defineController<Cleaner>({
    name: NAME,
    for: Cleaner,
    concurrency,
    projection: cleanerProjection,
    facts: cleanerFacts,
    // After a restart, a Cleaner whose status reports its deadline is added to the timers without a reconcile.
    firstDeadline: waitOf,
    dynamic: { to: (object, source) => context.interests.concerned(object, source) },
    rights: [
      ...RIGHTS,
      ...clusterImpersonation(options.impersonation),
      ...(services.impersonateAuthor === undefined ? [] : AUTHOR_IMPERSONATION),
    ],
    ...(namespace === undefined ? {} : { namespace }),
    reconcile: createReconcile(context),
  });
}

export function createActors(options: CleanerControllerOptions): Actors {
  const { services, seal, defaultAccount, requireAuthor, impersonation } = options;
  const { clock, client, acting = client, impersonate, impersonateAuthor, actAs } = services;
  return new Actors({
    clock,
    client,
    acting,
    impersonate,
    actAs,
    seal,
    requireAuthor,
    impersonation,
    ...(impersonateAuthor === undefined ? {} : { impersonateAuthor }),
    ...(defaultAccount === undefined ? {} : { defaultAccount }),
  });
}

function createContext(options: CleanerControllerOptions): Context {
  const { services, seal } = options;
  const { clock, guard, registry, client, actAs } = services;
  const habits = services.deletion?.(NAME);
  const metrics = cleanerMetrics(registry);
  return {
    guard,
    client,
    options,
    interests: new Interests(),
    memos: new Waits(),
    holds: new Waits(),
    definitions: new Map(),
    done: new Map(),
    ...(habits?.budget === undefined ? {} : { budget: habits.budget }),
    metrics,
    records: new RecordSeal({
      seal,
      random: services.random,
      log: services.log,
      mayUseOwnKey: actAs === 'controller',
    }),
    actors: createActors(options),
    expirer: new Expirer<DeletedWhat>({
      clock,
      guard,
      metrics: deletionMetrics(registry, NAME, () => guard.now()),
      onDeleted: ({ because }) => metrics.deleted(because),
      describe: ({ kind, object, because }) => `${because} ${kind.kind} ${object.metadata.name}`,
      origin,
      remembersAccepted: false,
      ...habits,
    }),
  };
}

const REASONS: Readonly<Record<Exclude<DeletedWhat, 'hook'>, string>> = {
  target: 'a target of the Cleaner, whose conditions are true',
  'release object': 'an object of the Helm release that the Cleaner uninstalls',
  'release record': 'a record of the Helm release that the Cleaner uninstalls',
  cleaner: 'everything that the Cleaner had to delete is deleted',
};

/** Hooks are not saved: Lapse created them. */
function origin({ because }: SentDelete<DeletedWhat>, { key, cache }: ReconcileContext): Origin | undefined {
  if (because === 'hook') return undefined;
  const annotations = cache.get(Cleaner, key)?.metadata.annotations;
  const author = authorNameIn(annotations?.[AUTHOR_ANNOTATION]);
  const rule = `Cleaner ${key.namespace}/${key.name}`;
  return { rule, ...(author === undefined ? {} : { author }), reason: REASONS[because] };
}

/**
 * The fields whose change triggers a reconcile. Every change of the spec changes the generation. Only Lapse writes
 * the status, and the reconcile that writes a decision continues with it (or the first one after a restart), so
 * status changes trigger nothing.
 */
const cleanerFacts = ({ metadata }: Cleaner) => ({
  generation: metadata.generation,
  deleted: metadata.deletionTimestamp,
  author: metadata.annotations?.[AUTHOR_ANNOTATION],
  approval: metadata.annotations?.[APPROVAL_ANNOTATION],
  delay: metadata.annotations?.[DELAY_ANNOTATION],
  ttl: metadata.annotations?.[TTL_ANNOTATION],
});
