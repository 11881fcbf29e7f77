// What the garbage collector takes along when something is deleted, by the rules of #standins/ownerGc (those of
// kube-controller-manager). Deletions are told in the order of time, since whoever has two owners goes with the second.

import type { ObjectMeta, OwnerReference } from '#api/object';
import type { Instant } from '#base/instant';
import type { Ends, ObjectName } from '#controllers/foresight';
import {
  computeFate,
  computeRole,
  FOREGROUND,
  inheritedPropagation,
  type OwnerState,
  type Propagation,
} from '#standins/ownerGc/compute';
import type { Taken } from '../plan.ts';
import { type Member, nameOfMember, type Ownership } from './ownership.ts';

export interface Takes {
  readonly takes: readonly Taken[];
  readonly takesMore: number;
  readonly propagation: Propagation;
}

const MOST_NAMED = 1000;

interface Gone {
  readonly at: Instant;
  /** As its dependents see it. */
  readonly state: OwnerState;
}

interface Step {
  readonly member: Member;
  readonly depth: number;
  /** Goes with its namespace, whoever owns it. */
  readonly unasked?: boolean;
}

export class Cascade {
  readonly #ownership: Ownership | undefined;
  readonly #gone = new Map<string, Gone>();
  /** References that were struck, by the uid of the dependent. */
  readonly #struck = new Map<string, Set<string>>();

  /** Without knowledge of ownership nothing but the objects themselves goes. */
  constructor(ownership: Ownership | undefined) {
    this.#ownership = ownership;
  }

  /** When the object with this uid is deleted, if it is. */
  endOf(uid: string): Instant | undefined {
    return this.#gone.get(uid)?.at;
  }

  /** Finalizers of others: a deleted object stays until they are gone. */
  keptBy(uid: string): readonly string[] {
    return this.#ownership?.keptBy(uid) ?? [];
  }

  /** Deletes one object, without asking yet what else goes: for what goes in the same instant. */
  mark({ object, at }: Pick<Ends, 'object' | 'at'>): void {
    this.#gone.set(object.uid, { at, state: 'dangling' });
  }

  /** Deletes one object, and answers what else goes. */
  delete({ object, at, ...asked }: Pick<Ends, 'object' | 'at' | 'propagation'>): Takes {
    const propagation = asked.propagation ?? this.#ownership?.mannerOf(object.uid) ?? 'Background';
    const takes: Taken[] = [];
    let takesMore = 0;
    const removed = [object.uid];
    const queue = this.#remove(object.uid, at, propagation, 1);
    if (isNamespace(object)) queue.push(...this.#contents(object.name));
    for (let i = 0; i < queue.length; i++) {
      const { member, depth, unasked } = queue[i]!;
      const manner = unasked === true ? 'Background' : this.#fateOf(member);
      const { uid = '' } = member.metadata;
      if (manner === undefined || this.#gone.has(uid)) continue;
      if (takes.length < MOST_NAMED) takes.push({ object: nameOfMember(member), depth });
      else takesMore++;
      queue.push(...this.#remove(uid, at, manner, depth + 1));
      removed.push(uid);
    }
    this.#settle(removed);
    return { takes, takesMore, propagation };
  }

  /** Whom it concerns that this one goes. */
  #remove(uid: string, at: Instant, propagation: Propagation, depth: number): Step[] {
    this.#gone.set(uid, { at, state: propagation === 'Foreground' ? 'waiting' : 'dangling' });
    // Somebody's finalizer keeps it: to those whom it owns it is still there.
    if (propagation === 'Background' && this.keptBy(uid).length > 0) {
      this.#gone.set(uid, { at, state: 'solid' });
      return [];
    }
    const dependents = this.#ownership?.dependentsOf(uid) ?? [];
    if (propagation !== 'Orphan') return dependents.map((member) => ({ member, depth }));
    for (const { metadata } of dependents) this.#strike(metadata.uid ?? '', uid);
    return [];
  }

  /** Once nobody waits any more, what finalizers of others keep is an owner like any other. */
  #settle(removed: readonly string[]): void {
    for (const uid of removed) {
      const gone = this.#gone.get(uid);
      if (gone?.state === 'waiting')
        this.#gone.set(uid, { at: gone.at, state: this.keptBy(uid).length > 0 ? 'solid' : 'dangling' });
    }
  }

  #strike(dependent: string, owner: string): void {
    const known = this.#struck.get(dependent);
    if (known === undefined) this.#struck.set(dependent, new Set([owner]));
    else known.add(owner);
  }

  #contents(namespace: string): Step[] {
    const members = this.#ownership?.inNamespace(namespace) ?? [];
    return members.map((member) => ({ member, depth: 1, unasked: true }));
  }

  /** How the collector deletes it now; undefined: not at all. */
  #fateOf({ metadata }: Member): Propagation | undefined {
    const references = this.#referencesOf(metadata);
    if (computeRole({ ...metadata, ownerReferences: references }) !== 'owned') return undefined;
    const owners = this.#ownership!.ownersOf(metadata, references).map((owner) => ({
      ...owner,
      state:
        owner.state === 'unknown' ? owner.state : (this.#gone.get(owner.reference.uid)?.state ?? owner.state),
    }));
    const fate = computeFate(
      { ...metadata, ownerReferences: references },
      { owners, dependents: this.#livingDependents(metadata.uid ?? ''), isCustom: false },
    );
    switch (fate.kind) {
      case 'delete':
        return fate.propagation;
      // Blocks nobody any more: its owner goes, and then it goes as it asked for itself.
      case 'unblock':
        return inheritedPropagation(metadata);
      case 'strip': {
        const left = new Set(fate.references.map(({ uid }) => uid));
        for (const { uid } of references) if (!left.has(uid)) this.#strike(metadata.uid ?? '', uid);
        return undefined;
      }
      case 'keep':
      case 'hold':
        return undefined;
    }
  }

  #referencesOf({ uid = '', ownerReferences = [] }: ObjectMeta): OwnerReference[] {
    const struck = this.#struck.get(uid);
    return struck === undefined
      ? [...ownerReferences]
      : ownerReferences.filter((reference) => !struck.has(reference.uid));
  }

  /** As they are at this moment: those that wait for what they own are still there. */
  #livingDependents(uid: string): ObjectMeta[] {
    return this.#ownership!.dependentsOf(uid).flatMap(({ metadata }) => {
      const gone = this.#gone.get(metadata.uid ?? '');
      if (gone === undefined || gone.state === 'solid') return [metadata];
      return gone.state === 'waiting' ? [{ ...metadata, ...WAITING }] : [];
    });
  }
}

/** The marks of an object that is being deleted in the foreground. */
const WAITING = { deletionTimestamp: '1970-01-01T00:00:00Z', finalizers: [FOREGROUND] };

const isNamespace = ({ apiVersion, kind }: ObjectName): boolean =>
  apiVersion === 'v1' && kind === 'Namespace';
