// Validation of ephemeral containers: like containers, with a target and without the fields that are not supported
// for them.

import { duplicate, type FieldError, forbidden, notFound } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { has, objects, part, text } from '../values.ts';
import { type PodParts, paddedImage, validateCommon } from './containers.ts';

const FORBIDDEN = [
  'ports',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
];

export function validateEphemeral(spec: JsonObject, pod: PodParts, path: string): FieldError[] {
  const planned = [...objects(spec, 'containers'), ...objects(spec, 'initContainers')].map((c) =>
    text(c, 'name'),
  );
  const names = new Set(planned);
  return objects(spec, 'ephemeralContainers').flatMap((container, i) => {
    const at = `${path}.ephemeralContainers[${i}]`;
    const [name, target] = [text(container, 'name'), text(container, 'targetContainerName')];
    const errors = [...validateCommon(container, pod, at), ...paddedImage(container, at)];
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (target !== '' && !planned.includes(target))
      errors.push(notFound(`${at}.targetContainerName`, target));
    const extra = FORBIDDEN.filter((f) => has(container, f));
    if (Object.keys(part(container, 'resources')).length > 0) extra.push('resources');
    errors.push(...extra.map((f) => forbidden(`${at}.${f}`, 'cannot be set for an Ephemeral Container')));
    objects(container, 'volumeMounts').forEach((mount, m) => {
      for (const field of ['subPath', 'subPathExpr'])
        if (text(mount, field) !== '')
          errors.push(
            forbidden(`${at}.volumeMounts[${m}].${field}`, 'cannot be set for an Ephemeral Container'),
          );
    });
    return errors;
  });
}
