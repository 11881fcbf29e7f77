// IngressClass: its strategy, and the default class of Ingresses.

import { type FieldError, forbidden, required, tooLong } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, type StrategyContext, specOf } from '../../resources/resource.ts';
import {
  check,
  dnsLabel,
  dnsSubdomain,
  domainPrefixedPath,
  immutable,
  metaOf,
  metaUpdate,
  oneOf,
} from '../checks.ts';
import { defaultClass } from '../defaultClass.ts';
import { pathSegmentName, subdomainName } from '../names.ts';
import { child, defaultTo, ensure, has, text, value } from '../values.ts';

const MAX_CONTROLLER = 250;
const IS_DEFAULT = ['ingressclass.kubernetes.io/is-default-class'];
/** The deprecated annotation of an Ingress. */
export const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** The DefaultIngressClass plugin. */
export function chooseIngressClass(
  ingress: KubeObject,
  _old: KubeObject | undefined,
  context: StrategyContext,
): void {
  const spec = ensure(ingress, 'spec');
  if (has(spec, 'ingressClassName') || ingress.metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
  const chosen = defaultClass(context.list('ingressclasses.networking.k8s.io'), IS_DEFAULT);
  if (chosen !== undefined) spec['ingressClassName'] = chosen;
}

function validate(ingressClass: KubeObject): FieldError[] {
  const spec = specOf(ingressClass);
  const controller = text(spec, 'controller');
  const parameters = child(spec, 'parameters');
  const path = 'spec.controller';
  return [
    ...(Buffer.byteLength(controller) > MAX_CONTROLLER ? [tooLong(path, MAX_CONTROLLER)] : []),
    ...domainPrefixedPath(controller, path),
    ...(parameters ? validateParameters(parameters, 'spec.parameters') : []),
  ];
}

function validateParameters(parameters: JsonObject, path: string): FieldError[] {
  const named = (field: string) => {
    const name = text(parameters, field);
    return name === '' ? [required(`${path}.${field}`)] : check(pathSegmentName, name, `${path}.${field}`);
  };
  return [
    ...(has(parameters, 'apiGroup') ? dnsSubdomain(text(parameters, 'apiGroup'), `${path}.apiGroup`) : []),
    ...named('kind'),
    ...named('name'),
    ...validateScope(parameters, path),
  ];
}

function validateScope(parameters: JsonObject, path: string): FieldError[] {
  const scope = text(parameters, 'scope');
  const at = `${path}.namespace`;
  switch (scope) {
    case 'Namespace':
      return has(parameters, 'namespace')
        ? dnsLabel(text(parameters, 'namespace'), at)
        : [required(at, "`parameters.scope` is set to 'Namespace'")];
    case 'Cluster':
      return has(parameters, 'namespace') ? [forbidden(at, "`parameters.scope` is set to 'Cluster'")] : [];
    default:
      return oneOf(scope, ['Cluster', 'Namespace'], `${path}.scope`);
  }
}

export const ingressClassStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  applyDefaults: (ingressClass) => {
    const parameters = child(child(ingressClass, 'spec'), 'parameters');
    if (parameters) defaultTo(parameters, 'scope', 'Cluster');
  },
  validate,
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...immutable(value(specOf(next), 'controller'), value(specOf(old), 'controller'), 'spec.controller'),
    ...metaOf(next, false, subdomainName),
    ...validate(next),
  ],
};
