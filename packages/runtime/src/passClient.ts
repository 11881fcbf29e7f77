// The client a pass writes through: the ordinary one, with every successful write told to `onWrite` (for ownWrites.ts),
// and with dryRun on all of them when nothing may be changed.

import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { Expected } from './ownWrites.ts';

export interface PassClientOptions {
  readonly client: Client;
  readonly dryRun: boolean;
  /** Ends whatever is under way. */
  readonly signal: AbortSignal;
  /** Something was really written. */
  readonly onWrite: (kind: Kind, key: ObjectKey, expected: Expected) => void;
}

export function createPassClient({ client, dryRun, signal, onWrite }: PassClientOptions): Client {
  const real = (options: { dryRun?: boolean } | undefined) => !dryRun && options?.dryRun !== true;
  const read = <O extends object>(options: O | undefined) => ({ signal, ...(options as O) });
  const manner = <O extends object>(options: O | undefined) => ({
    ...read(options),
    ...(dryRun ? { dryRun: true } : {}),
  });

  /** Tells of the object in an answer, if the answer has one and it was stored. */
  function told<A extends { readonly kind: string }>(
    kind: Kind,
    options: { dryRun?: boolean } | undefined,
    answer: A,
  ): A {
    const object = 'object' in answer ? (answer.object as KubeObject | undefined) : undefined;
    const version = object?.metadata.resourceVersion;
    if (object !== undefined && version !== undefined && real(options))
      onWrite(kind, keyOf(object), { version });
    return answer;
  }

  return {
    ...client,
    get discovery() {
      return client.discovery;
    },
    get: (kind, key, o) => client.get(kind, key, read(o)),
    list: (kind, o) => client.list(kind, read(o)),
    listPage: (kind, o) => client.listPage(kind, read(o)),
    pages: (kind, o) => client.pages(kind, read(o)),
    create: async (kind, object, o) => told(kind, o, await client.create(kind, object, manner(o))),
    update: async (kind, object, o) => told(kind, o, await client.update(kind, object, manner(o))),
    patch: async (kind, key, patch, o) => told(kind, o, await client.patch(kind, key, patch, manner(o))),
    apply: async (kind, object, o) => told(kind, o, await client.apply(kind, object, manner(o))),
    delete: async (kind, key, o) => {
      const answer = await client.delete(kind, key, manner(o));
      const uid = answer.kind === 'deleted' ? (answer.uid ?? o?.ifUid) : undefined;
      if (uid !== undefined && real(o)) onWrite(kind, key, { goneUid: uid });
      return told(kind, o, answer);
    },
    deleteCollection: (kind, o) => client.deleteCollection(kind, manner(o)),
  };
}
