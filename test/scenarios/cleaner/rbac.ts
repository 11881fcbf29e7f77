// Rights for scenarios: the embedded server authorizes every request, so this table of user rights is checked first,
// for requests sent as a user and for access reviews.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { Compose } from '@lapse/simulation/process';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { type ComposeOptions, composeFamilies, findFamily } from '../compose.ts';

interface Asked {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

export class Rbac {
  readonly #rules = new Map<string, Set<string>>();
  /** Requests sent as a user. */
  readonly asked: string[] = [];
  /** What Lapse itself may not do according to its own access reviews: `verb resource`. */
  readonly deniedToLapse = new Set<string>();
  /** Users who may do everything. */
  readonly masters = new Set<string>();

  /** `rights` are `verb resource`, or `verb resource in namespace` as granted by a Role. */
  allow(user: string, ...rights: string[]): void {
    this.#rules.set(user, new Set([...(this.#rules.get(user) ?? []), ...rights]));
  }
  revoke(user: string): void {
    this.#rules.delete(user);
    this.masters.delete(user);
  }
  isAllowed({ user, verb, resource, namespace }: Asked): boolean {
    const rules = this.#rules.get(user);
    const right = `${verb} ${resource}`;
    return this.masters.has(user) || [right, `${right} in ${namespace}`].some((one) => rules?.has(one));
  }

  /** A client limited to the rights of the user. */
  limit(client: Client, user: string): Client {
    const check = (verb: string, { resource }: Kind, name?: string): void => {
      this.asked.push(`${user} ${verb} ${resource}${name === undefined ? '' : `/${name}`}`);
      if (this.isAllowed({ user, verb, resource })) return;
      throw new ApiError(
        403,
        'Forbidden',
        `${resource} is forbidden: User "${user}" cannot ${verb} resource "${resource}"`,
      );
    };
    return {
      ...client,
      get discovery() {
        return client.discovery;
      },
      get: async (kind, key, o) => {
        check('get', kind, key.name);
        return client.get(kind, key, o);
      },
      list: async (kind, o) => {
        check('list', kind);
        return client.list(kind, o);
      },
      async *pages(kind, o) {
        check('list', kind);
        yield* client.pages(kind, o);
      },
      create: async (kind, object, o) => {
        check('create', kind, object.metadata.name);
        return client.create(kind, object, o);
      },
      patch: async (kind: Kind, key: ObjectKey, patch, o) => {
        check('patch', kind, key.name);
        return client.patch(kind, key, patch, o);
      },
      delete: async (kind: Kind, key: ObjectKey, o) => {
        check('delete', kind, key.name);
        return client.delete(kind, key, o);
      },
    } as Client;
  }

  /** A client whose SubjectAccessReviews are answered from the table. */
  reviewing(client: Client): Client {
    return {
      ...client,
      get discovery() {
        return client.discovery;
      },
      create: async (kind: Kind, object: KubeObject, o?: object) => {
        if (kind.resource === 'selfsubjectaccessreviews') return this.#reviewLapse(object);
        if (kind.resource !== 'subjectaccessreviews') return client.create(kind, object, o);
        const { user, resourceAttributes: asked } = object.spec as {
          user: string;
          resourceAttributes: Asked;
        };
        return {
          kind: 'created',
          object: { ...object, status: { allowed: this.isAllowed({ ...asked, user }) } },
        };
      },
    } as Client;
  }

  #reviewLapse(object: KubeObject) {
    const { verb, resource } = (object.spec as { resourceAttributes: Asked }).resourceAttributes;
    const allowed = !this.deniedToLapse.has(`${verb} ${resource}`);
    return { kind: 'created', object: { ...object, status: { allowed } } };
  }

  around(compose: Compose): Compose {
    return (process) =>
      compose({
        ...process,
        client: this.reviewing(process.client),
        clientAs: (who) => this.limit(process.clientAs(who), who.user),
      });
  }
}

export interface RbacCluster {
  readonly rbac: Rbac;
  readonly simulation: Simulation;
}

/** A simulation of the Cleaner with this authorization. */
export async function withRbac(
  configuration: ComposeOptions['configuration'],
  test: (cluster: RbacCluster) => Promise<void>,
): Promise<void> {
  const rbac = new Rbac();
  const family = findFamily('cleaner');
  const cleaner = { impersonation: 'cluster', ...(configuration['cleaner'] as object | undefined) };
  const complete = { ...configuration, cleaner } as ComposeOptions['configuration'];
  const compose = composeFamilies({
    families: [family],
    controllers: [],
    configuration: complete,
    gates: {},
  });
  const simulation = await simulate({ compose: rbac.around(compose), kinds: family.kinds });
  try {
    await simulation.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lapse-system' } });
    await test({ rbac, simulation });
  } finally {
    await simulation.close();
  }
}
