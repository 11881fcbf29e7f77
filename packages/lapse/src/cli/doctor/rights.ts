// Finds the declared rights of the controllers that are missing, per controller. If a right is not granted
// cluster-wide, lists the namespaces in which it is.

import { Namespace } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { createReviewer, describeMissing, type Missing, needsOf, type Reviewer } from '#manager/review';
import { type Examination, type Finding, listIfAllowed } from './finding.ts';

/** Limit of namespaces that are reviewed one by one, because of the load and the length of the report. */
const MOST_NAMESPACES = 20;

export const examineRights: Examination = async ({ client, assembly, general }) => {
  const review = createReviewer(client);
  const { families, lease } = assembly;
  const options = {
    families,
    lease,
    ...(general.namespace === undefined ? {} : { namespace: general.namespace }),
  };
  const findings: Finding[] = [];
  let namespaces: Promise<readonly string[]> | undefined;
  for (const { who, rights, where } of needsOf(options)) {
    const missing = await review(rights, where);
    const verbs = rights.reduce((sum, right) => sum + right.verbs.length, 0);
    if (missing.length === 0)
      findings.push({
        check: 'rights',
        level: 'ok',
        about: who,
        message: `all ${verbs} rights${placeOf(where)}`,
      });
    else {
      if (where === undefined) namespaces ??= namespacesOf(client);
      findings.push(await lack(who, missing, { review, namespaces: (await namespaces) ?? [] }));
    }
  }
  return findings;
};

const placeOf = (namespace: string | undefined): string =>
  namespace === undefined ? '' : ` in ${namespace}`;

async function namespacesOf(client: Client): Promise<readonly string[]> {
  const namespaces = (await listIfAllowed(client, Namespace)) ?? [];
  return namespaces.slice(0, MOST_NAMESPACES).map(({ metadata }) => metadata.name!);
}

interface Asking {
  readonly review: Reviewer;
  /** The namespaces to review if a right is not granted cluster-wide. */
  readonly namespaces: readonly string[];
}

async function lack(who: string, missing: readonly Missing[], asking: Asking): Promise<Finding> {
  const words: string[] = [];
  for (const one of missing) words.push(`${describeMissing(one)}${await onlyIn(one, asking)}`);
  return {
    check: 'rights',
    level: 'problem',
    about: who,
    message: `missing: ${words.join(', ')}`,
    hint: 'lapse manifests prints roles with exactly these rights',
  };
}

async function onlyIn(missing: Missing, { review, namespaces }: Asking): Promise<string> {
  if (missing.namespace !== undefined) return '';
  const { group, resource, verb } = missing;
  const allowed: string[] = [];
  for (const namespace of namespaces)
    if ((await review([{ group, resource, verbs: [verb] }], namespace)).length === 0) allowed.push(namespace);
  return allowed.length === 0 ? '' : ` (only in ${allowed.join(', ')})`;
}
