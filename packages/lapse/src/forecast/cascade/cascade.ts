// Computes what the garbage collector deletes with an object, by the rules of @lapse/simulation/controllers/ownerGc.
// Deletions are added in the order of time: an object with two owners is deleted with the second. Deletions at the
// same time are added together, because their order is undetermined.

import type { Instant } from '@lapse/base/instant';
import {
  inheritedPropagation,
  isBlocking,
  type OwnerState,
  type Propagation,
} from '@lapse/simulation/controllers/ownerGc/compute';
import type { DeletedStatement, ObjectName } from '#controllers/forecaster';
import type { Dependent } from '../plan.ts';
import { type Member, nameOfMember, type Ownership } from './ownership.ts';
import {
  type Course,
  computeCourses,
  computePolicies,
  computeResult,
  computeWaits,
  coursesAfterwards,
  type Tie,
} from './ties.ts';

export interface Dependents {
  readonly dependents: readonly Dependent[];
  readonly moreDependents: number;
  readonly propagation: Propagation;
}

export interface Deletion extends Pick<DeletedStatement, 'object' | 'at' | 'propagation' | 'uncertain'> {
  /** Propagation policies of competing deletions at the same time. Any of them may be first. */
  readonly competing?: readonly DeletedStatement['propagation'][];
}

const MOST_NAMED = 1000;
const NOTHING: readonly never[] = [];

/** A deleted object. */
interface Gone {
  readonly at: Instant;
  /** It is kept in some orders of events. */
  readonly uncertain: boolean;
  /** The earliest time at which it may have been deleted. */
  readonly earlier?: Instant;
  /** Its state as its dependents see it afterwards. */
  readonly courses: readonly Course[];
  /** Whether it is stuck terminating, because of a finalizer or a dependent that it waits for. */
  readonly stuck: Chance;
}

type Chance = 'no' | 'uncertain' | 'yes';

/** An object that is deleted at the current time. */
interface CurrentDeletion {
  readonly policies: Set<Propagation>;
  isSure: boolean;
  readonly namespace: string;
  /** Undefined: deleted by its own rule. */
  readonly taken?: Member;
  /** Index of the deletion that causes it. */
  readonly by: number;
  readonly depth: number;
}

export class Cascade {
  readonly #ownership: Ownership | undefined;
  readonly #gone = new Map<string, Gone>();
  #current = new Map<string, CurrentDeletion>();

  /** Without an ownership index only the objects themselves are deleted. */
  constructor(ownership: Ownership | undefined) {
    this.#ownership = ownership;
  }

  /** When the object with this uid is certainly deleted. */
  endOf(uid: string): Instant | undefined {
    const gone = this.#gone.get(uid);
    return gone?.uncertain === false ? gone.at : undefined;
  }

  /** When it no longer exists, `certain` or uncertain. */
  lastOf(uid: string): { readonly certain?: Instant; readonly uncertain?: Instant } {
    const gone = this.#gone.get(uid);
    if (gone === undefined || gone.stuck === 'yes') return {};
    const { at, earlier, uncertain, stuck } = gone;
    if (uncertain || stuck === 'uncertain') return { uncertain: earlier ?? at };
    return { certain: at, ...(earlier === undefined ? {} : { uncertain: earlier }) };
  }

  /** Foreign finalizers: a deleted object is terminating until they are removed. */
  keptBy(uid: string): readonly string[] {
    return this.#ownership?.keptBy(uid) ?? NOTHING;
  }

  /** Deletes one object and returns what is deleted with it. */
  delete(deletion: Deletion): Dependents {
    return this.deleteTogether([deletion])[0]!;
  }

  /** Deletes all objects of one time and returns for each what is deleted with it. */
  deleteTogether(deletions: readonly Deletion[]): Dependents[] {
    if (deletions.every(({ object }) => this.#isAlone(object)))
      return deletions.map((one) => this.#deleteAlone(one));
    this.#current = new Map();
    const propagations = deletions.map((one, by) => this.#begin(one, by));
    this.#spread();
    this.#makeSure();
    return this.#conclude(deletions, propagations);
  }

  #begin({ object, propagation: asked, uncertain, competing = NOTHING }: Deletion, by: number): Propagation {
    const inherited = this.#ownership?.policyOf(object.uid) ?? 'Background';
    const propagation = asked ?? inherited;
    this.#current.set(object.uid, {
      policies: new Set([propagation, ...competing.map((one) => one ?? inherited)]),
      isSure: uncertain !== true,
      namespace: object.namespace ?? '',
      by,
      depth: 0,
    });
    if (isNamespace(object))
      for (const member of this.#ownership?.inNamespace(object.name) ?? NOTHING)
        this.#add(member, { policies: ['Background'], by, depth: 1, isSure: uncertain !== true });
    return propagation;
  }

  /** Records that a member is deleted, and the propagation policy. Returns whether that is new. */
  #add(
    member: Member,
    { policies, by, depth, isSure }: { policies: Propagation[]; by: number; depth: number; isSure: boolean },
  ): boolean {
    const { uid = '', namespace = '' } = member.metadata;
    const known = this.#current.get(uid);
    if (known === undefined) {
      if (this.endOf(uid) !== undefined) return false;
      this.#current.set(uid, { policies: new Set(policies), isSure, namespace, taken: member, by, depth });
      return true;
    }
    const before = known.policies.size;
    for (const policy of policies) known.policies.add(policy);
    return known.policies.size > before;
  }

  /** Finds everything that may be deleted. An object with its own rule may be deleted with its owner first. */
  #spread(): void {
    const queue = [...this.#current.keys()];
    for (let i = 0; i < queue.length; i++) {
      const { by, depth } = this.#current.get(queue[i]!)!;
      for (const member of this.#dependentsOf(queue[i]!)) {
        if (member.metadata.deletionTimestamp !== undefined) continue;
        const ties = this.#tiesOf(member);
        if (computeResult(ties) === 'kept') continue;
        const policies = computePolicies(ties, this.#bearingOf(member));
        if (this.#add(member, { policies, by, depth: depth + 1, isSure: false }))
          queue.push(member.metadata.uid ?? '');
      }
    }
  }

  /** Finds the objects that are deleted in every order of events. */
  #makeSure(): void {
    const queue = [...this.#current].filter(([, { isSure }]) => isSure).map(([uid]) => uid);
    for (let i = 0; i < queue.length; i++)
      for (const member of this.#dependentsOf(queue[i]!)) {
        const { uid = '' } = member.metadata;
        const current = this.#current.get(uid);
        if (current === undefined || current.isSure || computeResult(this.#tiesOf(member)) !== 'deleted')
          continue;
        current.isSure = true;
        queue.push(uid);
      }
  }

  #conclude(deletions: readonly Deletion[], propagations: readonly Propagation[]): Dependents[] {
    const answers = propagations.map((propagation) => ({
      dependents: [] as Dependent[],
      moreDependents: 0,
      propagation,
    }));
    const gone = [...this.#current].map(([uid, current]): [string, Gone] => [
      uid,
      {
        at: deletions[current.by]!.at,
        uncertain: !current.isSure,
        courses: coursesAfterwards(this.#coursesOf(uid, current)),
        stuck: this.#stuck(uid, new Set()),
      },
    ]);
    for (const { isSure, taken, by, depth } of this.#current.values()) {
      if (taken === undefined) continue;
      const answer = answers[by]!;
      const object = nameOfMember(taken);
      if (answer.dependents.length === MOST_NAMED) answer.moreDependents++;
      else answer.dependents.push(isSure ? { object, depth } : { object, depth, uncertain: true });
    }
    for (const [uid, one] of gone) this.#note(uid, one);
    this.#current = new Map();
    return answers;
  }

  #note(uid: string, gone: Gone): void {
    const before = this.#gone.get(uid);
    this.#gone.set(uid, before === undefined ? gone : { ...gone, earlier: before.earlier ?? before.at });
  }

  #isAlone(object: ObjectName): boolean {
    return !isNamespace(object) && this.#dependentsOf(object.uid).length === 0;
  }

  /** Fast path: most objects have no dependents. */
  #deleteAlone({ object: { uid }, at, propagation, uncertain = false }: Deletion): Dependents {
    const isKept = this.keptBy(uid).length > 0;
    this.#note(uid, { at, uncertain, courses: NOTHING, stuck: isKept ? 'yes' : 'no' });
    return {
      dependents: NOTHING,
      moreDependents: 0,
      propagation: propagation ?? this.#ownership?.policyOf(uid) ?? 'Background',
    };
  }

  #dependentsOf(uid: string): readonly Member[] {
    return this.#ownership?.dependentsOf(uid) ?? NOTHING;
  }

  #bearingOf({ metadata }: Member) {
    const owned = this.#dependentsOf(metadata.uid ?? '');
    return {
      isOwner: owned.length > 0,
      isCircle: owned.some(
        (one) => this.#current.get(one.metadata.uid ?? '')?.policies.has('Foreground') === true,
      ),
      inherited: inheritedPropagation(metadata),
    };
  }

  #tiesOf(member: Member): Tie[] {
    const { metadata } = member;
    const { isCircle } = this.#bearingOf(member);
    const { ownerReferences = NOTHING, namespace: home = '' } = metadata;
    return this.#ownership!.ownersOf(metadata, ownerReferences).map(({ reference: { uid }, state }) => {
      const known = state === 'unknown' ? undefined : this.#current.get(uid);
      const current = known?.namespace === '' || known?.namespace === home ? known : undefined;
      return {
        courses: current === undefined ? this.#coursesBefore(uid, state) : this.#coursesOf(uid, current),
        // In a cycle it is unblocked before it is deleted.
        blocks: !isCircle && isBlocking(metadata, uid),
        waits: computeWaits(current?.policies),
      };
    });
  }

  /** For an owner that is not deleted at the current time. */
  #coursesBefore(uid: string, state: OwnerState): readonly Course[] {
    if (state === 'unknown') return ['unknown'];
    // An owner that is already waiting has been removed from the references, or has deleted its dependents.
    if (state !== 'solid') return ['absent'];
    return this.#gone.get(uid)?.courses ?? ['exists'];
  }

  #coursesOf(uid: string, { policies, isSure }: CurrentDeletion): Course[] {
    const isKept = this.keptBy(uid).length > 0;
    return computeCourses(policies, { isSure, isKept, isPerhapsGone: this.#gone.has(uid) });
  }

  /** Whether it is stuck terminating after its deletion. `path`: uids that are already being checked. */
  #stuck(uid: string, path: Set<string>): Chance {
    if (this.keptBy(uid).length > 0) return 'yes';
    const policies = this.#current.get(uid)?.policies;
    if (policies?.has('Foreground') !== true || path.has(uid)) return 'no';
    path.add(uid);
    let most: Chance = 'no';
    for (const member of this.#dependentsOf(uid)) {
      const holds = isBlocking(member.metadata, uid) ? this.#holds(member, path) : 'no';
      if (holds === 'yes' && policies.size === 1) return 'yes';
      if (holds !== 'no') most = 'uncertain';
    }
    return most;
  }

  /** Whether a dependent is kept and still refers to the waiting owner. */
  #holds(member: Member, path: Set<string>): Chance {
    const { uid = '', deletionTimestamp } = member.metadata;
    const ties = this.#tiesOf(member);
    if (ties.some(({ courses }) => courses.includes('unknown'))) return 'yes';
    const current = this.#current.get(uid);
    const gone = this.#gone.get(uid);
    if (current === undefined && gone === undefined && deletionTimestamp === undefined) return 'no';
    const stuck = current === undefined ? (gone?.stuck ?? 'uncertain') : this.#stuck(uid, path);
    if (stuck !== 'yes') return stuck;
    // If another owner exists when the dependent is processed, the reference to this one is removed.
    const isFaithful = current === undefined || ties.filter(isInPlay).length === 1;
    return isFaithful && (current ?? { isSure: gone?.uncertain !== true }).isSure ? 'yes' : 'uncertain';
  }
}

const isInPlay = ({ courses }: Tie): boolean => courses.some((course) => course !== 'absent');

const isNamespace = ({ apiVersion, kind }: ObjectName): boolean =>
  apiVersion === 'v1' && kind === 'Namespace';
