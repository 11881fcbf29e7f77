// A client that does only what was declared. Role manifests are generated from the same declaration, so a call outside it
// would be refused in a cluster; in tests it fails here first, with the sentence that is missing.

import type { Kind } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import type { Right } from './definition.ts';

export class RightMissing extends Error {}

export function withinRights(client: Client, rights: readonly Right[], who: string): Client {
  const allowed = new Set(
    rights.flatMap(({ group, resource, verbs }) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
  );
  const need = (verb: string, kind: Kind, subresource?: string): void => {
    const resource = subresource === undefined ? kind.resource : `${kind.resource}/${subresource}`;
    if (allowed.has(`${verb} ${resource}.${kind.group}`) || allowed.has(`${verb} *.*`)) return;
    throw new RightMissing(
      `${who} does not declare { group: '${kind.group}', resource: '${resource}', verbs: ['${verb}'] }`,
    );
  };
  return {
    ...client,
    get discovery() {
      return client.discovery;
    },
    get: async (kind, key, o) => {
      need('get', kind, o?.subresource);
      return client.get(kind, key, o);
    },
    list: async (kind, o) => {
      need('list', kind);
      return client.list(kind, o);
    },
    listPage: async (kind, o) => {
      need('list', kind);
      return client.listPage(kind, o);
    },
    pages: (kind, o) => {
      need('list', kind);
      return client.pages(kind, o);
    },
    watch: (kind, o) => {
      need('watch', kind);
      return client.watch(kind, o);
    },
    create: async (kind, object, o) => {
      need('create', kind, o?.subresource);
      return client.create(kind, object, o);
    },
    update: async (kind, object, o) => {
      need('update', kind, o?.subresource);
      return client.update(kind, object, o);
    },
    patch: async (kind, key, patch, o) => {
      need('patch', kind, o?.subresource);
      return client.patch(kind, key, patch, o);
    },
    apply: async (kind, object, o) => {
      need('patch', kind, o?.subresource);
      return client.apply(kind, object, o);
    },
    delete: async (kind, key, o) => {
      need('delete', kind);
      return client.delete(kind, key, o);
    },
    deleteCollection: async (kind, o) => {
      need('deletecollection', kind);
      return client.deleteCollection(kind, o);
    },
  };
}
