// Attributes changes to their writers. A watch event does not name the writer. But every write passes through here, its
// response contains the new version, and the clock does not advance until the change is observed.

import type { Instant } from '@lapse/base/instant';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { RequestInfo, Verb } from './requestInfo.ts';

/** Who wrote a change. `server`: the API server itself. */
export type Actor = 'user' | 'process' | 'simulated controller' | 'server';

interface Write {
  readonly actor: Actor;
  readonly verb: Verb;
  /** The version with which a delete set deletionTimestamp: its last change, if the response has the same version. */
  mark?: string;
  /** Undefined while the server handles the write. */
  answer?: { readonly at: Instant; readonly accepted: boolean; readonly version: string | undefined };
}

const DELETES = new Set<Verb>(['delete', 'deletecollection']);

export class Writers {
  readonly #now: () => Instant;
  readonly #writes = new Map<string, Write[]>();

  constructor(now: () => Instant) {
    this.#now = now;
  }

  /** Registers a write. Call the returned function with the response. */
  enter(request: RequestInfo, name: string | undefined, actor: Actor): (response: HttpResponse) => void {
    const write: Write = { actor, verb: request.verb };
    const key = keyText(request, name ?? request.name);
    this.#writes.set(key, [...this.#current(key), write]);
    return (response) => {
      const accepted = response.status < 300;
      write.answer = { at: this.#now(), accepted, version: accepted ? versionIn(response) : undefined };
    };
  }

  /** The writer of this version of an object, or of its removal. */
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

  /** The writes that may still be observed. Earlier writes are observed already or changed nothing. */
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
  // Writes with a response have another version, except deletes, whose response may have none.
  const open = possible.filter(({ answer }) => answer === undefined || answer.version === undefined);
  const fitting = open.filter(({ verb }) => DELETES.has(verb) === ends);
  // Any write may remove the last finalizer. A delete may only set deletionTimestamp.
  return fitting[0] ?? open[0] ?? (ends ? possible[0] : possible.find(({ verb }) => DELETES.has(verb)));
}

type Target = Pick<RequestInfo, 'group' | 'resource' | 'namespace'> & { readonly name?: string | undefined };

const keyText = ({ group, resource, namespace = '' }: Target, name: string | undefined): string =>
  `${group}/${resource}/${namespace}/${name ?? ''}`;

function versionIn({ body }: HttpResponse): string | undefined {
  if (!(body instanceof Uint8Array)) return undefined;
  return /"resourceVersion":\s*"(\d+)"/.exec(Buffer.from(body).toString())?.[1];
}
