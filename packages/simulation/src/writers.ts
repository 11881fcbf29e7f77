// Who made a change. Changes are seen through a watch, which does not say; but every write passes by here, its answer
// names the version it made, and time stands still until a change has been seen.

import type { Instant } from '@lapse/base/instant';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { Actor } from './history.ts';
import type { SeenRequest, Verb } from './seen.ts';

interface Write {
  readonly actor: Actor;
  readonly verb: Verb;
  /** The version with which a deletion marked the object: the last it makes, if its answer has it, too. */
  mark?: string;
  /** Undefined while the server has it. */
  answer?: { readonly at: Instant; readonly accepted: boolean; readonly version: string | undefined };
}

const DELETES = new Set<Verb>(['delete', 'deletecollection']);

export class Writers {
  readonly #now: () => Instant;
  readonly #writes = new Map<string, Write[]>();

  constructor(now: () => Instant) {
    this.#now = now;
  }

  /** A write is on its way; call what is returned with the answer. */
  enter(request: SeenRequest, name: string | undefined, actor: Actor): (response: HttpResponse) => void {
    const write: Write = { actor, verb: request.verb };
    const key = keyText(request, name ?? request.name);
    this.#writes.set(key, [...this.#current(key), write]);
    return (response) => {
      const accepted = response.status < 300;
      write.answer = { at: this.#now(), accepted, version: accepted ? versionIn(response) : undefined };
    };
  }

  /** Who wrote this version of an object, or ended it with it. */
  take(at: Omit<Target, 'name'> & { readonly name: string }, { version, ends }: Made): Actor {
    for (const key of [keyText(at, at.name), keyText(at, undefined)]) {
      const writes = this.#current(key);
      const write = choose(writes, { version, ends });
      if (write === undefined) continue;
      const marks = !ends && write.verb === 'delete';
      if (marks) write.mark = version;
      const stays = marks || write.verb === 'deletecollection';
      this.#writes.set(key, stays ? writes : writes.filter((other) => other !== write));
      return write.actor;
    }
    return 'server';
  }

  /** Writes of the past have been seen, or have changed nothing. */
  #current(key: string): Write[] {
    const now = this.#now();
    return (this.#writes.get(key) ?? []).filter(({ answer }) => answer === undefined || answer.at === now);
  }
}

interface Made {
  readonly version: string;
  readonly ends: boolean;
}

function choose(writes: readonly Write[], { version, ends }: Made): Write | undefined {
  const possible = writes.filter(({ answer, mark }) =>
    answer === undefined ? true : answer.accepted && (mark === undefined || answer.version !== mark),
  );
  const known = possible.find(({ answer }) => answer?.version === version);
  if (known !== undefined) return known;
  // Answered ones have another version, except those that delete: their answer may have none.
  const open = possible.filter(({ answer }) => answer === undefined || answer.version === undefined);
  const fitting = open.filter(({ verb }) => DELETES.has(verb) === ends);
  // The last finalizer may be taken away by any write, and a deletion marks the object, perhaps only that.
  return fitting[0] ?? open[0] ?? (ends ? possible[0] : possible.find(({ verb }) => DELETES.has(verb)));
}

type Target = Pick<SeenRequest, 'group' | 'resource' | 'namespace'> & { readonly name?: string | undefined };

const keyText = ({ group, resource, namespace = '' }: Target, name: string | undefined): string =>
  `${group}/${resource}/${namespace}/${name ?? ''}`;

function versionIn({ body }: HttpResponse): string | undefined {
  if (!(body instanceof Uint8Array)) return undefined;
  return /"resourceVersion":\s*"(\d+)"/.exec(Buffer.from(body).toString())?.[1];
}
