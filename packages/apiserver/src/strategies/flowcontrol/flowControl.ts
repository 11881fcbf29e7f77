// Shared by FlowSchema and PriorityLevelConfiguration: generation, status, and conditions with a type.

import { duplicate, type FieldError, required } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, statusOf } from '../../resources/resource.ts';
import { metaOf } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { keepMeta } from '../statusMeta.ts';
import { copyField, objects, text } from '../values.ts';

function validateStatus(object: KubeObject): FieldError[] {
  const types = objects(statusOf(object), 'conditions').map((condition) => text(condition, 'type'));
  return types.flatMap((type, i) => {
    const path = `status.conditions[${i}].type`;
    return [
      ...(types.indexOf(type) < i ? [duplicate(path, type)] : []),
      ...(type === '' ? [required(path)] : []),
    ];
  });
}

export function flowControlStrategy(validate: (object: KubeObject) => FieldError[]): Strategy {
  return {
    nameRule: subdomainName,
    generation: true,
    prepareForCreate: (object) => {
      object['status'] = {};
    },
    validate,
    prepareForUpdate: (next, old) => copyField(next, old, 'status'),
    validatesMeta: true,
    validateUpdate: (next) => [
      ...metaOf(next, false, subdomainName),
      ...validate(next),
      ...validateStatus(next),
    ],
    subresources: {
      status: {
        prepareForUpdate(next, old) {
          copyField(next, old, 'spec');
          keepMeta(next, old);
        },
        validatesMeta: true,
        validateUpdate: validateStatus,
      },
    },
  };
}
