// Strategy of PodTemplate.

import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { subdomainName } from '../names.ts';
import { defaultPodSpec } from '../pod/defaults.ts';
import { validatePodTemplate } from '../pod/template.ts';
import { podWarnings } from '../pod/warnings.ts';
import { child, part } from '../values.ts';

const validate = (object: KubeObject): FieldError[] =>
  validatePodTemplate(part(object, 'template'), 'template');

export const podTemplateStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  generation: true,
  applyDefaults: (object) => defaultPodSpec(child(child(object, 'template'), 'spec')),
  validate,
  validateUpdate: validate,
  warnings: (next, old) =>
    next.metadata.generation === old?.metadata.generation
      ? []
      : podWarnings(part(part(next, 'template'), 'spec'), 'template.'),
};
