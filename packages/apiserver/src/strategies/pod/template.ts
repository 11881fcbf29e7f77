// Validation of Pod templates.

import { type FieldError, forbidden } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { validateAnnotations, validateLabels } from '../../metadata/validateMeta.ts';
import { cacheValid } from '../cacheValid.ts';
import { objects, part, stringMap } from '../values.ts';
import { validatePodAnnotations } from './annotations.ts';
import { validatePodSpec } from './spec.ts';

export function validatePodTemplate(template: JsonObject, path: string): FieldError[] {
  const [meta, spec] = [part(template, 'metadata'), part(template, 'spec')];
  const ephemeral = objects(spec, 'ephemeralContainers').length > 0;
  return [
    ...validateLabels(stringMap(meta, 'labels'), `${path}.labels`),
    ...validateAnnotations(stringMap(meta, 'annotations'), `${path}.annotations`),
    ...validatePodAnnotations(meta, spec, `${path}.annotations`),
    ...validateSpec(spec, `${path}.spec`),
    ...(ephemeral
      ? [forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ];
}

const validateSpec = cacheValid((spec, path) => validatePodSpec(spec, undefined, path));
