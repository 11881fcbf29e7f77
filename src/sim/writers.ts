// Who made a change. Changes are seen through a watch, which does not say; but every write passes by here, its answer
// names the version it made, and time stands still until a change has been seen.

import type { HttpResponse } from '#api/http';
import type { Instant } from '#base/instant';
import type { Actor } from './history.ts';
import type { SeenRequest, Verb } from './seen.ts';

interface Write {
  readonly actor: Actor;
  readonly verb: Verb;
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

  /** Who wrote this version of an object, or ended it (`version` undefined). Each write makes one change. */
  take(at: Omit<Target, 'name'> & { readonly name: string }, version: string | undefined): Actor {
    for (const key of [keyText(at, at.name), keyText(at, undefined)]) {
      const writes = this.#current(key);
      const write = choose(writes, version);
      if (write === undefined) continue;
      this.#writes.set(
        key,
        writes.filter((other) => other !== write || write.verb === 'deletecollection'),
      );
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

function choose(writes: readonly Write[], version: string | undefined): Write | undefined {
  const possible = writes.filter(({ answer }) => answer === undefined || answer.accepted);
  const known =
    version === undefined ? undefined : possible.find(({ answer }) => answer?.version === version);
  if (known !== undefined) return known;
  // Answered ones have another version, except those that delete: their answer may have none.
  const open = possible.filter(({ answer }) => answer === undefined || answer.version === undefined);
  const fitting = open.filter(({ verb }) => (version === undefined ? DELETES.has(verb) : !DELETES.has(verb)));
  // The last finalizer may be taken away by any write, and a deletion may only mark the object.
  return fitting[0] ?? open[0] ?? (version === undefined ? possible[0] : undefined);
}

type Target = Pick<SeenRequest, 'group' | 'resource' | 'namespace'> & { readonly name?: string | undefined };

const keyText = ({ group, resource, namespace = '' }: Target, name: string | undefined): string =>
  `${group}/${resource}/${namespace}/${name ?? ''}`;

function versionIn({ body }: HttpResponse): string | undefined {
  if (!(body instanceof Uint8Array)) return undefined;
  return /"resourceVersion":\s*"(\d+)"/.exec(Buffer.from(body).toString())?.[1];
}
