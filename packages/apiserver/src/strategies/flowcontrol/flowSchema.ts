// Strategy of FlowSchema. The server has no priority levels: these objects have no effect.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { bootstrapData } from '../../data/tables.ts';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { check, dnsLabel } from '../checks.ts';
import { labelName, subdomainName } from '../names.ts';
import { child, flag, number, objects, part, text, texts, value } from '../values.ts';
import { flowControlStrategy } from './flowControl.ts';

const MAX_PRECEDENCE = 10_000;
const MANDATORY = ['catch-all', 'exempt'];

function validate(schema: KubeObject): FieldError[] {
  const spec = specOf(schema);
  const name = schema.metadata.name ?? '';
  const fixed = MANDATORY.includes(name)
    ? bootstrapData()['flowschemas.flowcontrol.apiserver.k8s.io']!.find((o) => o.metadata.name === name)
    : undefined;
  return [
    ...precedenceErrors(number(spec, 'matchingPrecedence') ?? 0, name),
    ...distinguisherErrors(child(spec, 'distinguisherMethod')),
    ...levelErrors(text(part(spec, 'priorityLevelConfiguration'), 'name')),
    ...objects(spec, 'rules').flatMap((rule, i) => validateRule(rule, `spec.rules[${i}]`)),
    ...(fixed && !equal(spec, specOf(fixed))
      ? [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]
      : []),
  ];
}

function precedenceErrors(precedence: number, name: string): FieldError[] {
  const refuse = (why: string) => invalid('spec.matchingPrecedence', precedence, why);
  return [
    ...(precedence <= 0 ? [refuse('must be a positive value')] : []),
    ...(precedence > MAX_PRECEDENCE ? [refuse(`must not be greater than ${MAX_PRECEDENCE}`)] : []),
    ...(precedence === 1 && name !== 'exempt'
      ? [refuse("only the schema named 'exempt' may have matchingPrecedence 1")]
      : []),
  ];
}

function distinguisherErrors(method: JsonObject | undefined): FieldError[] {
  const methods = ['ByNamespace', 'ByUser'];
  if (!method || methods.includes(text(method, 'type'))) return [];
  return [notSupported('spec.distinguisherMethod.type', method, methods)];
}

function levelErrors(name: string): FieldError[] {
  const path = 'spec.priorityLevelConfiguration.name';
  return name === '' ? [required(path, 'must reference a priority level')] : check(subdomainName, name, path);
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const [subjects, resource, other] = ['subjects', 'resourceRules', 'nonResourceRules'].map((f) =>
    objects(rule, f),
  ) as [JsonObject[], JsonObject[], JsonObject[]];
  return [
    ...(subjects.length === 0
      ? [required(`${path}.subjects`, 'subjects must contain at least one value')]
      : subjects.flatMap((subject, i) => validateSubject(subject, `${path}.subjects[${i}]`))),
    ...(resource.length + other.length === 0
      ? [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...resource.flatMap((r, i) => validateResourceRule(r, `${path}.resourceRules[${i}]`)),
    ...other.flatMap((r, i) => validateOtherRule(r, `${path}.nonResourceRules[${i}]`)),
  ];
}

/** Kind and field, in the order of the errors. */
const SUBJECTS = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
] as const;

function validateSubject(subject: JsonObject, path: string): FieldError[] {
  const kind = text(subject, 'kind');
  const own = SUBJECTS.find(([name]) => name === kind);
  if (!own) return [notSupported(`${path}.kind`, kind, ['Group', 'ServiceAccount', 'User'])];
  const [, field] = own;
  const given = child(subject, field);
  const at = `${path}.${field}`;
  return [
    ...(given
      ? validateNamed(given, kind, at)
      : [required(at, `${field} is required when subject kind is '${kind}'`)]),
    ...SUBJECTS.filter(([name, other]) => name !== kind && child(subject, other)).map(([name, other]) =>
      forbidden(`${path}.${other}`, `${other} is forbidden when subject kind is not '${name}'`),
    ),
  ];
}

function validateNamed(subject: JsonObject, kind: string, path: string): FieldError[] {
  const name = text(subject, 'name');
  const missing = name === '' ? [required(`${path}.name`)] : [];
  if (kind !== 'ServiceAccount') return missing;
  const namespace = text(subject, 'namespace');
  return [
    ...missing,
    ...(name === '' || name === '*' ? [] : check(subdomainName, name, `${path}.name`)),
    ...(namespace === ''
      ? [required(`${path}.namespace`, 'must specify namespace for service account')]
      : dnsLabel(namespace, `${path}.namespace`)),
  ];
}

const VERBS = 'create delete deletecollection get list patch proxy update watch'.split(' ');

/** An error when `*` is not the only value. */
function wildcardErrors(values: readonly string[], path: string, what: string): FieldError[] {
  return values.includes('*') && values.length > 1
    ? [invalid(path, values as Json, `if '*' is present, must not specify other ${what}`)]
    : [];
}

function verbErrors(rule: JsonObject, path: string): FieldError[] {
  const verbs = texts(rule, 'verbs');
  const at = `${path}.verbs`;
  if (verbs.length === 0) return [required(at, 'verbs must contain at least one value')];
  if (verbs.includes('*')) return wildcardErrors(verbs, at, 'verbs');
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [notSupported(at, value(rule, 'verbs'), VERBS)];
}

function validateResourceRule(rule: JsonObject, path: string): FieldError[] {
  const [groups, resources, namespaces] = ['apiGroups', 'resources', 'namespaces'].map((f) =>
    texts(rule, f),
  ) as [string[], string[], string[]];
  const at = `${path}.namespaces`;
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  return [
    ...verbErrors(rule, path),
    ...(groups.length === 0
      ? [required(`${path}.apiGroups`, 'resource rules must supply at least one api group')]
      : wildcardErrors(groups, `${path}.apiGroups`, 'api groups')),
    ...(resources.length === 0
      ? [required(`${path}.resources`, 'resource rules must supply at least one resource')]
      : wildcardErrors(resources, `${path}.resources`, 'resources')),
    ...(namespaces.length === 0 && flag(rule, 'clusterScope') !== true
      ? [required(at, 'resource rules that are not cluster scoped must supply at least one namespace')]
      : []),
    ...(namespaces.includes('*')
      ? wildcardErrors(namespaces, at, 'namespaces')
      : namespaces.flatMap((name, i) =>
          labelName(name).map((why) => invalid(`${at}[${i}]`, name, intro + why)),
        )),
  ];
}

function validateOtherRule(rule: JsonObject, path: string): FieldError[] {
  const urls = texts(rule, 'nonResourceURLs');
  const at = `${path}.nonResourceURLs`;
  if (urls.length === 0)
    return [...verbErrors(rule, path), required(at, 'nonResourceURLs must contain at least one value')];
  return [
    ...verbErrors(rule, path),
    ...(urls.includes('*')
      ? wildcardErrors(urls, at, 'non-resource URLs')
      : urls.flatMap((url, i) => urlErrors(url, `${at}[${i}]`))),
  ];
}

function urlErrors(url: string, path: string): FieldError[] {
  const refuse = (why: string) => [invalid(path, url, why)];
  if (url === '') return refuse('must not be empty');
  if (url === '/') return [];
  if (!url.startsWith('/')) return refuse('must start with slash');
  if (url.includes(' ')) return refuse('must not contain white-space');
  if (url.includes('//')) return refuse('must not contain double slash');
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*'))
    ? refuse('wildcard can only do suffix matching')
    : [];
}

export const flowSchemaStrategy: Strategy = flowControlStrategy(validate);
