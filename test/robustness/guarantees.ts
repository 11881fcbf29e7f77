// The guarantees of controllers that delete objects, by name. Each is a function from a history to its violations:
// pure, so that a history can be checked again. Times are the server's.

import { type Instant, type Millis, millis, plus } from '@lapse/base/instant';
import { equal, isObject, type Json } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import { isWrite } from '@lapse/simulation/requestInfo';
import type { RequestRecord } from '@lapse/simulation/wire';
import { savedVersions } from './savedVersions.ts';
import type { Subject } from './subject.ts';

export interface Evidence {
  readonly subject: Pick<Subject, 'resource' | 'deadlineOf' | 'isTerminal' | 'saves'>;
  readonly changes: readonly Change[];
  /** Requests of the process under test. */
  readonly requests: readonly RequestRecord[];
  /** The objects that exist at the end. */
  readonly left: readonly KubeObject[];
  /** No faults from here on (true time). Missed deletions are caught up with by `recovered`. */
  readonly recovered: Instant;
  readonly ended: Instant;
  /** The tolerated difference between two clocks that agree. */
  readonly tolerance: Millis;
}

export type Guarantee = (evidence: Evidence) => string[];

/** How late a deletion may be without faults. */
const STATED_LAG = millis(2000);

interface End {
  readonly change: Change;
  /** Its state when its deletion was accepted. */
  readonly before: KubeObject;
}

const isEnding = (object: KubeObject | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined;

/** The moments at which the server accepted a deletion by the process. */
function endsOf({ changes, subject }: Evidence): End[] {
  return changes.flatMap((change) => {
    const { before, after, by, resource } = change;
    if (by !== 'process' || resource !== subject.resource || before === undefined) return [];
    const ends = !isEnding(before) && (after === undefined || isEnding(after));
    return ends ? [{ change, before }] : [];
  });
}

const named = ({ change }: End): string => `${change.name} (+${change.at})`;

/** Every state of one object, up to a moment. */
const statesOf = ({ changes }: Evidence, uid: string, until: Change): KubeObject[] =>
  changes
    .slice(0, changes.indexOf(until))
    .flatMap(({ after }) => (after?.metadata.uid === uid ? [after] : []));

/** No object is deleted before the earliest deadline it ever had. */
export const neverEarly: Guarantee = (evidence) =>
  endsOf(evidence).flatMap((end) => {
    const deadlines = statesOf(evidence, end.before.metadata.uid!, end.change).map(
      (state) => evidence.subject.deadlineOf(state) ?? Number.POSITIVE_INFINITY,
    );
    const early = Math.min(...deadlines) - end.change.serverAt;
    return early > evidence.tolerance ? [`${named(end)} ended ${early} ms early`] : [];
  });

/** No object is deleted at an old deadline after the server accepted a later one. */
export const neverOverExtension: Guarantee = (evidence) =>
  endsOf(evidence).flatMap((end) => {
    const deadline = evidence.subject.deadlineOf(end.before) ?? Number.POSITIVE_INFINITY;
    const early = deadline - end.change.serverAt;
    return early > evidence.tolerance ? [`${named(end)} ended ${early} ms before its accepted deadline`] : [];
  });

/** Every DELETE names the uid of its object, so that a new object of the same name is not deleted. */
export const neverWrongUid: Guarantee = (evidence) =>
  endsOf(evidence).flatMap((end) => {
    const { uid } = end.before.metadata;
    const meant = evidence.requests.filter(
      ({ verb, resource, name, at }) =>
        verb === 'delete' &&
        resource === end.change.resource &&
        name === end.change.name &&
        at <= end.change.at,
    );
    return meant.some((request) => uidIn(request) === uid)
      ? []
      : [`${named(end)} was deleted by a request that does not name it (${uidIn(meant.at(-1)) ?? 'no uid'})`];
  });

function uidIn(request: RequestRecord | undefined): string | undefined {
  if (request?.body === undefined) return undefined;
  const options: unknown = JSON.parse(Buffer.from(request.body).toString());
  const preconditions = isObject(options) ? options.preconditions : undefined;
  return isObject(preconditions) && typeof preconditions.uid === 'string' ? preconditions.uid : undefined;
}

/**
 * Once the faults have stopped, everything overdue is deleted, and objects that become due are deleted within the
 * stated lag.
 */
export const eventuallyDeleted: Guarantee = (evidence) => {
  const { left, subject, recovered, ended } = evidence;
  const overdue = left.flatMap((object) => {
    const deadline = subject.deadlineOf(object);
    const due = deadline !== undefined && plus(deadline, STATED_LAG) < ended && !isEnding(object);
    return due ? [`${object.metadata.name} is still there, ${ended - deadline} ms after its deadline`] : [];
  });
  const late = endsOf(evidence).flatMap((end) => {
    const deadline = subject.deadlineOf(end.before);
    if (deadline === undefined || deadline < recovered) return [];
    const lag = end.change.serverAt - deadline;
    return lag > STATED_LAG ? [`${named(end)} ended ${lag} ms late`] : [];
  });
  return [...overdue, ...late];
};

/** An object in its final state is not changed; only its deletion may follow. */
export const terminalIsImmutable: Guarantee = ({ changes, subject }) =>
  changes.flatMap(({ before, after, by, name, at, resource }) => {
    const isOurs = by === 'process' && resource === subject.resource;
    if (!isOurs || before === undefined || after === undefined || !subject.isTerminal(before)) return [];
    return equal(substance(before), substance(after)) ? [] : [`${name} (+${at}) was changed after its end`];
  });

/** Everything except metadata. */
function substance(object: KubeObject): Json {
  const { metadata: _, ...rest } = asJson(object);
  return rest;
}

/** Every write that the server accepts changes something. */
export const noWriteWithoutChange: Guarantee = ({ changes, requests }) => {
  const made = new Map<string, Change>();
  for (const change of changes)
    if (change.by === 'process' && change.after !== undefined)
      made.set(change.after.metadata.resourceVersion!, change);
  return requests.flatMap((request) => {
    const { verb, name, resourceVersion: version, status, at } = request;
    const isAccepted = typeof status === 'number' && status < 300;
    if (!isWrite(request) || !isAccepted || version === undefined || verb === 'deletecollection') return [];
    const change = made.get(version);
    // A second write that is answered with the same version has changed nothing.
    made.delete(version);
    if (change !== undefined && isRealChange(change)) return [];
    // The answer to a DELETE is the last state of the deleted object: its version is not a separate change.
    if (verb === 'delete' && changes.some((one) => isEndBy(one, request))) return [];
    return [`${verb} ${request.resource}/${name} (+${at}) changed nothing`];
  });
};

const isEndBy = (
  { resource, name, by, after, at }: Change,
  request: Pick<RequestRecord, 'resource' | 'name' | 'at' | 'answeredAt'>,
): boolean =>
  by === 'process' &&
  after === undefined &&
  resource === request.resource &&
  name === request.name &&
  at >= request.at &&
  at <= (request.answeredAt ?? at);

const BOOKKEEPING = ['resourceVersion', 'managedFields', 'generation'];

function isRealChange({ before, after }: Change): boolean {
  const plain = (object: KubeObject | undefined): Json | undefined => {
    if (object === undefined) return undefined;
    const metadata = Object.fromEntries(
      Object.entries(object.metadata).filter(([field]) => !BOOKKEEPING.includes(field)),
    );
    return { ...asJson(object), metadata: metadata as Json } as Json;
  };
  return !equal(plain(before), plain(after));
}

/** Every deleted object was in the trash before, in exactly the version that was deleted. */
export const nothingUnsaved: Guarantee = (evidence) => {
  if (evidence.subject.saves !== true) return [];
  const saved = savedVersions(evidence.changes);
  return endsOf(evidence).flatMap((end) => {
    const { uid, resourceVersion } = end.before.metadata;
    const at = saved.get(`${uid}@${resourceVersion}`);
    const isBefore = at !== undefined && at < evidence.changes.indexOf(end.change);
    return isBefore ? [] : [`${named(end)} was deleted without being saved`];
  });
};

export const GUARANTEES = {
  neverEarly,
  neverOverExtension,
  neverWrongUid,
  eventuallyDeleted,
  terminalIsImmutable,
  noWriteWithoutChange,
  nothingUnsaved,
} satisfies Record<string, Guarantee>;

export type GuaranteeName = keyof typeof GUARANTEES;
