// What a process says about itself when it starts: what runs, which of our kinds the cluster does not serve, and which
// rights are missing. It only looks and tells; nothing waits for it, and nothing depends on it.

import { defineKind } from '#api/kind';
import type { CustomKind } from '#api/kinds/customKind';
import type { KubeObject } from '#api/object';
import type { Log } from '#base/log';
import { type Client, objectOf } from '#client/client';
import type { LocalRight } from '#controllers/family';
import { type ControllerDefinition, type Right, rightsOf } from '#runtime/definition';
import { asError } from '#runtime/outcome';
import type { AssembledFamily } from './assemble.ts';

interface AccessReview extends KubeObject {
  spec: { resourceAttributes: Readonly<Record<string, string>> };
  status?: { allowed?: boolean };
}
const SelfSubjectAccessReview = defineKind<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
});

/** What the process needs whatever it runs. */
export const EVENT_RIGHTS: readonly Right[] = [
  { group: 'events.k8s.io', resource: 'events', verbs: ['create', 'patch'] },
];
export const LEASE_RIGHTS: readonly Right[] = [
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['create', 'get', 'update'] },
];

export interface StartupOptions {
  readonly client: Client;
  readonly log: Log;
  readonly families: readonly AssembledFamily[];
  readonly namespace?: string;
  readonly lease?: { readonly namespace: string; readonly name: string } | undefined;
}

/** Resolves when everything was said; never rejects. */
export async function tellWhatRuns(options: StartupOptions): Promise<void> {
  const { families, log } = options;
  for (const { family, controllers } of families)
    log.info({ family: family.name, controllers: controllers.map(({ name }) => name) }, 'runs');
  try {
    await Promise.all([tellMissingKinds(options), tellMissingRights(options)]);
  } catch (error) {
    log.warn({ error: asError(error) }, 'could not find out which kinds and rights are missing');
  }
}

async function tellMissingKinds({ client, log, families }: StartupOptions): Promise<void> {
  for (const { family } of families) {
    const missing = await missingKinds(client, family.kinds);
    if (missing.length > 0)
      log.warn(
        { family: family.name, missing, hint: 'lapse crds | kubectl apply --server-side -f -' },
        'kinds are not served',
      );
  }
}

async function missingKinds(client: Client, kinds: readonly CustomKind[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { kind } of kinds) {
    const { group, version, resource } = kind;
    if ((await client.discovery.find({ group, version, resource })) === undefined)
      missing.push(`${resource}.${version}.${group}`);
  }
  return missing;
}

interface Needs {
  readonly who: string;
  readonly rights: readonly (Right & Pick<LocalRight, 'names'>)[];
  readonly where: string | undefined;
}

function needsOf({ families, namespace, lease }: StartupOptions): Needs[] {
  const needs: Needs[] = [{ who: 'events', rights: EVENT_RIGHTS, where: namespace }];
  if (lease !== undefined)
    needs.push({ who: 'leader election', rights: LEASE_RIGHTS, where: lease.namespace });
  for (const { family, rights = [] } of families)
    for (const right of rights) needs.push({ who: family.name, rights: [right], where: right.namespace });
  for (const { controllers } of families)
    for (const definition of controllers)
      needs.push({
        who: definition.name,
        rights: rightsOf(definition),
        where: namespaceOf(definition, namespace),
      });
  return needs;
}

async function tellMissingRights(options: StartupOptions): Promise<void> {
  const review = reviewer(options.client);
  for (const { who, rights, where } of needsOf(options)) {
    const missing = await review(rights, where);
    if (missing.length > 0) options.log.warn({ controller: who, missing }, 'rights are missing');
  }
}

/** A controller of one namespace needs its rights there only. */
const namespaceOf = (definition: ControllerDefinition, all: string | undefined): string | undefined =>
  all ?? definition.namespace;

type Reviewer = (rights: Needs['rights'], namespace: string | undefined) => Promise<string[]>;

/** Asks the API server, each question once. */
function reviewer(client: Client): Reviewer {
  const answers = new Map<string, Promise<boolean>>();
  const ask = (attributes: Readonly<Record<string, string>>): Promise<boolean> => {
    const question = JSON.stringify(attributes);
    const answer =
      answers.get(question) ??
      client
        .create(SelfSubjectAccessReview, {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          metadata: {},
          spec: { resourceAttributes: attributes },
        })
        .then((created) => objectOf(created).status?.allowed === true);
    answers.set(question, answer);
    return answer;
  };
  return async (rights, namespace) => {
    const asked = rights.flatMap(({ group, resource: path, verbs, names: [name] = [] }) =>
      verbs.map(async (verb) => {
        const [resource = '', subresource] = path.split('/');
        const attributes = {
          group,
          resource,
          verb,
          ...(subresource === undefined ? {} : { subresource }),
          ...(namespace === undefined ? {} : { namespace }),
          ...(name === undefined ? {} : { name }),
        };
        const where = namespace === undefined ? '' : ` in ${namespace}`;
        return (await ask(attributes)) ? [] : [`${verb} ${path}${group === '' ? '' : `.${group}`}${where}`];
      }),
    );
    return (await Promise.all(asked)).flat();
  };
}
