// A client that allows only the declared rights. RBAC roles are generated from the same declaration, so a cluster would
// refuse any other request. In tests the request fails here first, and the error names the missing declaration.

import type { Kind } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import type { Right } from './definition.ts';

export class RightMissing extends Error {}

export function withinRights(client: Client, rights: readonly Right[], who: string): Client {
  const allowed = new Set(
    rights.flatMap(({ group, resource, verbs }) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
  );
  const requireRight = (verb: string, kind: Kind, subresource?: string): void => {
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
      requireRight('get', kind, o?.subresource);
      return client.get(kind, key, o);
    },
    list: async (kind, o) => {
      requireRight('list', kind);
      return client.list(kind, o);
    },
    listPage: async (kind, o) => {
      requireRight('list', kind);
      return client.listPage(kind, o);
    },
    pages: (kind, o) => {
      requireRight('list', kind);
      return client.pages(kind, o);
    },
    watch: (kind, o) => {
      requireRight('watch', kind);
      return client.watch(kind, o);
    },
    create: async (kind, object, o) => {
      requireRight('create', kind, o?.subresource);
      return client.create(kind, object, o);
    },
    update: async (kind, object, o) => {
      requireRight('update', kind, o?.subresource);
      return client.update(kind, object, o);
    },
    patch: async (kind, key, patch, o) => {
      requireRight('patch', kind, o?.subresource);
      return client.patch(kind, key, patch, o);
    },
    apply: async (kind, object, o) => {
      requireRight('patch', kind, o?.subresource);
      return client.apply(kind, object, o);
    },
    delete: async (kind, key, o) => {
      requireRight('delete', kind);
      return client.delete(kind, key, o);
    },
    deleteCollection: async (kind, o) => {
      requireRight('deletecollection', kind);
      return client.deleteCollection(kind, o);
    },
  };
}
