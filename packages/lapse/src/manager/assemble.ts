// Builds a manager from families and a cluster connection: clients and transports, leader election, Events, the clock
// guard, and the services of the families. `lapse run` and `lapse up` differ only in the transports.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { Clock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import { type Client, type ClientOptions, createClient } from '@lapse/kube/client/client';
import { type Credentials, type Impersonation, impersonating } from '@lapse/kube/client/credentials';
import { createFlow } from '@lapse/kube/client/flow';
import { createSkew } from '@lapse/kube/client/skew';
import type { Transport } from '@lapse/kube/client/transport';
import { createContextClient } from '@lapse/runtime/contextClient';
import { LeaseElector } from '@lapse/runtime/election/elector';
import { leaderOnly } from '@lapse/runtime/election/leaderOnly';
import { EventSender } from '@lapse/runtime/events/outbox';
import type { Liveness } from '@lapse/runtime/liveness';
import { Manager, type ManagerOptions } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { requestMetrics } from '@lapse/runtime/metrics/runtimeMetrics';
import type { Subject } from '#authors/accessReview';
import type { Family, Parts, Services } from '#controllers/family';
import { type Budget, createBudget } from '#deletion/budget';
import { createSkewGuard } from '#deletion/skewGuard';
import type { Trash } from '#deletion/trash';
import { createTrash } from '#trash/createTrash';
import type { General } from './configuration/general.ts';
import { computeGates } from './selection.ts';

/** The connection to the cluster. */
export interface ClusterConnection {
  readonly transport: Transport;
  /** Only for the lease, so that other requests cannot delay it. */
  readonly leaseTransport: Transport;
  readonly credentials: Credentials;
  /** Default namespace of the lease. */
  readonly namespace: string;
  readonly liveness?: Liveness;
}

export interface AssemblyOptions {
  readonly connection: ClusterConnection;
  readonly general: General;
  /** The whole configuration, including the sections of the families. */
  readonly document: JsonObject;
  /** All available families, for the feature gates. */
  readonly known: readonly Family[];
  readonly selected: readonly Family[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Unique per process. */
  readonly identity: string;
  readonly onReconcile?: NonNullable<ManagerOptions['onReconcile']>;
  /** Options of the manager for `lapse up` and tests with their own clock. */
  readonly managing?: Pick<ManagerOptions, 'listBy' | 'bookmarks' | 'inFlight' | 'onFirstDeadline'>;
}

export interface AssembledFamily extends Parts {
  readonly family: Family;
}

export interface Assembly {
  readonly manager: Manager;
  readonly registry: Registry;
  readonly services: Services;
  readonly families: readonly AssembledFamily[];
  /** The lease. Undefined without leader election. */
  readonly lease: { readonly namespace: string; readonly name: string } | undefined;
}

export function assemble(options: AssemblyOptions): Assembly {
  const { connection, general, clock, random, log, identity } = options;
  const registry = new Registry();
  const skew = createSkew(clock);
  const common = clientOptions(options, registry, skew);
  const client = createClient({ ...common, transport: connection.transport });
  const lease = general.leaderElection.enabled ? leaseOf(general, connection.namespace) : undefined;
  const elector = lease === undefined ? undefined : createElector(options, { common, registry, lease });
  const writing = elector === undefined ? connection.transport : leaderOnly(connection.transport, elector);
  const shared = { ...common, transport: writing, discovery: client.discovery };
  const acting = createClient(shared);
  const guard = createSkewGuard({ clock, skew, raw: client.raw, registry, maxSkew: general.maxClockSkew });
  const { namespace } = connection;
  const saving = savesAny(options)
    ? createTrash(general.trash, { clock, log, guard, registry, client: acting, namespace })
    : undefined;
  const clientAs = impersonator(shared, connection.credentials, general.dryRun);
  const services = {
    clock,
    random,
    registry,
    log,
    guard,
    client,
    acting,
    ...policyServices(options, clientAs, saving?.trash),
    ...(saving === undefined ? {} : { trashRights: saving.rights }),
  };
  const families = options.selected.map((family) => createFamily(family, services, options.document));
  const manager = new Manager({
    clock,
    random,
    log,
    registry,
    client: acting,
    controllers: [
      ...families.flatMap(({ controllers }) => controllers),
      ...(saving === undefined ? [] : [saving.controller]),
    ],
    events: new EventSender({ client, clock, random, log, registry, instance: identity }),
    time: guard,
    dryRun: general.dryRun,
    ...(elector === undefined ? {} : { elector }),
    ...(connection.liveness === undefined ? {} : { liveness: connection.liveness }),
    ...(options.onReconcile === undefined ? {} : { onReconcile: options.onReconcile }),
    ...options.managing,
  });
  return { manager, registry, services, families, lease };
}

/** Whether a selected family saves what it deletes. */
const savesAny = ({ selected, general }: AssemblyOptions): boolean =>
  selected.some(({ saves }) => saves === 'always' || (saves === 'jobs' && general.trash.jobs));

/** Options of all clients: one flow control, one clock comparison and one set of metrics. */
function clientOptions(
  { connection, general, clock, random, log }: AssemblyOptions,
  registry: Registry,
  skew: ReturnType<typeof createSkew>,
): Omit<ClientOptions, 'transport'> {
  const countRequest = requestMetrics(registry);
  const { qps, burst, maxInFlight } = general.clientConnection;
  const flow = createFlow({
    clock,
    random,
    maxInFlight,
    ...(qps === undefined || qps === 0 ? {} : { qps }),
    ...(burst === undefined ? {} : { burst }),
  });
  return {
    clock,
    random,
    flow,
    credentials: connection.credentials,
    observe(exchange) {
      skew.observe(exchange);
      countRequest(exchange);
    },
    onWarning: (warning) => log.debug({ warning }, 'the API server warns'),
  };
}

interface ElectorParts {
  readonly common: Omit<ClientOptions, 'transport'>;
  readonly registry: Registry;
  readonly lease: NonNullable<Assembly['lease']>;
}

/** The elector has its own connection without flow control, so that other requests cannot delay it. */
function createElector(
  { connection, general, clock, random, log, identity }: AssemblyOptions,
  { common, registry, lease }: ElectorParts,
): LeaseElector {
  const { leaseDuration: duration, renewDeadline, retryPeriod } = general.leaderElection;
  const client = createClient({ ...common, transport: connection.leaseTransport, flow: 'none' });
  return new LeaseElector({
    client,
    clock,
    random,
    log,
    registry,
    identity,
    lease,
    duration,
    renewDeadline,
    retryPeriod,
  });
}

/** What the configuration decides: whose rights count, the namespace, feature gates and limits of deletions. */
function policyServices(
  { general, known, clock }: AssemblyOptions,
  clientAs: (who: Impersonation) => Client,
  trash: Trash | undefined,
): Pick<Services, 'impersonate' | 'impersonateAuthor' | 'actAs' | 'namespace' | 'isEnabled' | 'deletion'> {
  const gates = computeGates(known, general.featureGates);
  return {
    impersonate: ({ namespace, name }) => clientAs({ user: `system:serviceaccount:${namespace}:${name}` }),
    ...(general.impersonateAuthor ? { impersonateAuthor: (author) => clientAs(identityOf(author)) } : {}),
    actAs: general.actAs,
    ...(general.namespace === undefined ? {} : { namespace: general.namespace }),
    isEnabled(gate) {
      const state = gates.get(gate);
      if (state === undefined) throw new Error(`no family declares the gate ${gate}`);
      return state;
    },
    deletion: deletionOptionsOf(general, clock, trash),
  };
}

/** A dry run must not take the lease of an active process. */
const leaseOf = ({ leaderElection, dryRun, namespace }: General, usual: string) => ({
  namespace: leaderElection.namespace ?? namespace ?? usual,
  name: leaderElection.name ?? (dryRun ? 'lapse-dry-run' : 'lapse'),
});

function createFamily(family: Family, services: Services, document: JsonObject): AssembledFamily {
  const sections = Object.keys(family.configuration).map((name) => [name, document[name] as JsonObject]);
  const log = services.log.with({ family: family.name });
  return { family, ...family.create({ ...services, log }, Object.fromEntries(sections)) };
}

/** One budget per controller, created at the first call. */
function deletionOptionsOf(
  { deletions }: General,
  clock: Clock,
  trash: Trash | undefined,
): NonNullable<Services['deletion']> {
  const { perSecond, perMinute, paranoidReread: rereadFirst } = deletions;
  const budgets = new Map<string, Budget>();
  const limits = {
    clock,
    ...(perSecond === undefined ? {} : { perSecond }),
    ...(perMinute === undefined ? {} : { perMinute }),
  };
  return (controller) => {
    const budget = budgets.get(controller) ?? createBudget(limits);
    budgets.set(controller, budget);
    return { rereadFirst, budget, trash };
  };
}

const MOST_IMPERSONATED = 1000;

/** Without the uid: sending it requires an additional right, and RBAC does not evaluate it. */
const identityOf = ({ username, groups, extra }: Subject): Impersonation => ({
  user: username,
  ...(groups === undefined ? {} : { groups }),
  ...(extra === undefined ? {} : { extra }),
});

/**
 * One client per identity, with a bounded cache. In a dry run these clients change nothing either. The API server
 * derives the groups of a service account from its name; sending them would require the right to impersonate
 * groups.
 */
function impersonator(
  options: ClientOptions,
  credentials: Credentials,
  dryRun: boolean,
): (who: Impersonation) => Client {
  const clients = new BoundedMap<string, Client>(MOST_IMPERSONATED);
  const never = new AbortController().signal;
  return (who) => {
    const id = JSON.stringify(who);
    const known = clients.get(id);
    if (known !== undefined) return known;
    const plain = createClient({ ...options, credentials: impersonating(credentials, who) });
    const made = dryRun
      ? createContextClient({ client: plain, dryRun, signal: never, onWrite: () => {} })
      : plain;
    clients.set(id, made);
    return made;
  };
}
