// The client of a reconcile: reports every successful write to `onWrite` (for ownWrites.ts), and sets dryRun on all
// writes if the process runs in dry-run mode.

import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { Expected } from './ownWrites.ts';

export interface ContextClientOptions {
  readonly client: Client;
  readonly dryRun: boolean;
  /** Aborts running requests. */
  readonly signal: AbortSignal;
  /** Called after a write that was persisted, not after a dry run. */
  readonly onWrite: (kind: Kind, key: ObjectKey, expected: Expected) => void;
}

export function createContextClient({ client, dryRun, signal, onWrite }: ContextClientOptions): Client {
  const isPersisted = (options: { dryRun?: boolean } | undefined) => !dryRun && options?.dryRun !== true;
  const readOptions = <O extends object>(options: O | undefined) => ({ signal, ...(options as O) });
  const writeOptions = <O extends object>(options: O | undefined) => ({
    ...readOptions(options),
    ...(dryRun ? { dryRun: true } : {}),
  });

  /** Calls `onWrite` if the answer contains an object and the write was persisted. Returns the answer. */
  function reportWrite<A extends { readonly kind: string }>(
    kind: Kind,
    options: { dryRun?: boolean } | undefined,
    answer: A,
  ): A {
    const object = 'object' in answer ? (answer.object as KubeObject | undefined) : undefined;
    const version = object?.metadata.resourceVersion;
    if (object !== undefined && version !== undefined && isPersisted(options))
      onWrite(kind, keyOf(object), { version });
    return answer;
  }

  return {
    ...client,
    get discovery() {
      return client.discovery;
    },
    get: (kind, key, o) => client.get(kind, key, readOptions(o)),
    list: (kind, o) => client.list(kind, readOptions(o)),
    listPage: (kind, o) => client.listPage(kind, readOptions(o)),
    pages: (kind, o) => client.pages(kind, readOptions(o)),
    create: async (kind, object, o) =>
      reportWrite(kind, o, await client.create(kind, object, writeOptions(o))),
    update: async (kind, object, o) =>
      reportWrite(kind, o, await client.update(kind, object, writeOptions(o))),
    patch: async (kind, key, patch, o) =>
      reportWrite(kind, o, await client.patch(kind, key, patch, writeOptions(o))),
    apply: async (kind, object, o) => reportWrite(kind, o, await client.apply(kind, object, writeOptions(o))),
    delete: async (kind, key, o) => {
      const answer = await client.delete(kind, key, writeOptions(o));
      const uid = answer.kind === 'deleted' ? (answer.uid ?? o?.ifUid) : undefined;
      if (uid !== undefined && isPersisted(o)) onWrite(kind, key, { goneUid: uid });
      return reportWrite(kind, o, answer);
    },
    deleteCollection: (kind, o) => client.deleteCollection(kind, writeOptions(o)),
  };
}
