// Strategies of ValidatingWebhookConfiguration and MutatingWebhookConfiguration.

import { duplicate, type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { metaOf, oneOf } from '../checks.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { label1035Name, subdomainName } from '../names.ts';
import { child, has, number, objects, part, text, texts } from '../values.ts';
import { validateServiceReference, validateWebhookUrl } from './clientConfig.ts';
import { validateMatchConditions } from './matchConditions.ts';
import { validateOperationsRule } from './rules.ts';

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const VERSIONS = ['v1', 'v1beta1'];

function validateHook(hook: JsonObject, path: string, mutating: boolean): FieldError[] {
  const choice = (field: string, values: string[]) =>
    has(hook, field) ? oneOf(text(hook, field), values, `${path}.${field}`) : [];
  const timeout = number(hook, 'timeoutSeconds');
  const selector = (field: string) => validateLabelSelector(child(hook, field), `${path}.${field}`);
  return [
    ...nameErrors(text(hook, 'name'), `${path}.name`),
    ...objects(hook, 'rules').flatMap((rule, i) => validateOperationsRule(rule, `${path}.rules[${i}]`)),
    ...choice('failurePolicy', ['Fail', 'Ignore']),
    ...choice('matchPolicy', ['Equivalent', 'Exact']),
    ...sideEffectErrors(hook, `${path}.sideEffects`),
    ...(timeout !== undefined && (timeout > 30 || timeout < 1)
      ? [invalid(`${path}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...selector('namespaceSelector'),
    ...selector('objectSelector'),
    ...(mutating ? choice('reinvocationPolicy', ['IfNeeded', 'Never']) : []),
    ...clientErrors(part(hook, 'clientConfig'), `${path}.clientConfig`),
    ...validateMatchConditions(objects(hook, 'matchConditions'), `${path}.matchConditions`, {
      params: false,
    }),
    ...versionErrors(texts(hook, 'admissionReviewVersions'), `${path}.admissionReviewVersions`),
  ];
}

/** A domain name with at least three segments. */
function nameErrors(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const odd = subdomainName(name);
  if (odd.length > 0) return [invalid(path, name, odd.join(','))];
  return name.split('.').length < 3
    ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function sideEffectErrors(hook: JsonObject, path: string): FieldError[] {
  if (!has(hook, 'sideEffects')) return [required(path, `must specify one of ${SIDE_EFFECTS.join(', ')}`)];
  const effects = text(hook, 'sideEffects');
  return SIDE_EFFECTS.includes(effects) ? [] : [notSupported(path, effects, SIDE_EFFECTS)];
}

function clientErrors(config: JsonObject, path: string): FieldError[] {
  const service = child(config, 'service');
  if (has(config, 'url') === (service !== undefined))
    return [required(path, 'exactly one of url or service is required')];
  return service
    ? validateServiceReference(service, `${path}.service`)
    : validateWebhookUrl(text(config, 'url'), `${path}.url`);
}

function versionErrors(versions: string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${VERSIONS.join(', ')}`)];
  const errors = versions.flatMap((version, i) =>
    versions.indexOf(version) < i
      ? [invalid(`${path}[${i}]`, version, 'duplicate version')]
      : label1035Name(version).map((complaint) => invalid(`${path}[${i}]`, version, complaint)),
  );
  if (!versions.some((v) => VERSIONS.includes(v)))
    errors.push(invalid(path, versions, `must include at least one of ${VERSIONS.join(', ')}`));
  return errors;
}

function strategyOf(mutating: boolean): Strategy {
  const validate = (configuration: KubeObject): FieldError[] => {
    const hooks = objects(configuration, 'webhooks');
    return hooks.flatMap((hook, i) => {
      const [name, path] = [text(hook, 'name'), `webhooks[${i}]`];
      const repeated = name !== '' && hooks.slice(0, i).some((h) => text(h, 'name') === name);
      return [...validateHook(hook, path, mutating), ...(repeated ? [duplicate(`${path}.name`, name)] : [])];
    });
  };
  return {
    nameRule: subdomainName,
    anyFinalizer: true,
    generation: true,
    unconditionalUpdate: false,
    validate,
    validatesMeta: true,
    validateUpdate: (next) => [
      ...metaOf(next, false, subdomainName).filter((e) => !e.field.startsWith('metadata.finalizers[')),
      ...validate(next),
    ],
  };
}

export const validatingWebhookStrategy = strategyOf(false);
export const mutatingWebhookStrategy = strategyOf(true);
