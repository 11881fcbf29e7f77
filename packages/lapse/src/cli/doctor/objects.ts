// Checks all objects of families with object checks (Cleaners, TTL policies): the rights that Lapse needs for each,
// and whether its author is verified.

import type { ObjectCheck, ReviewNeeds } from '#controllers/objectCheck';
import { createReviewer } from '#manager/review';
import { type DoctorContext, type Examination, type Finding, listIfAllowed } from './finding.ts';

const check = 'objects';

export const examineObjects: Examination = async (doctorContext) => {
  const review = needsReviewer(doctorContext);
  const findings: Finding[] = [];
  for (const { checks = [] } of doctorContext.assembly.families)
    for (const one of checks) findings.push(...(await examineAll(one, doctorContext, review)));
  return findings;
};

/** Sends each review once for all objects. */
function needsReviewer({ client }: DoctorContext): ReviewNeeds {
  const review = createReviewer(client);
  return async (needs) => {
    const lacks = await Promise.all(
      needs.map(({ verb, group, resource, namespace, name }) => {
        const names = name === undefined ? {} : { names: [name] };
        return review([{ group, resource, verbs: [verb], ...names }], namespace);
      }),
    );
    return needs.filter((_, i) => lacks[i]!.length > 0);
  };
}

async function examineAll(
  { kind, check: examine }: ObjectCheck,
  { client, general }: DoctorContext,
  review: ReviewNeeds,
): Promise<Finding[]> {
  const about = `${kind.resource}.${kind.group}`;
  const objects = await listIfAllowed(client, kind, kind.namespaced ? general.namespace : undefined);
  if (objects === undefined)
    return [{ check, level: 'note', about, message: 'not served, or may not be listed' }];
  const findings: Finding[] = [];
  for (const object of objects) {
    const { namespace, name } = object.metadata;
    const which = `${kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    // List items have neither kind nor apiVersion, but messages contain the kind.
    const whole = { ...object, kind: kind.kind };
    for (const problem of await examine(whole, review)) findings.push({ check, about: which, ...problem });
  }
  if (findings.length > 0) return findings;
  return [{ check, level: 'ok', about, message: `${objects.length} checked` }];
}
