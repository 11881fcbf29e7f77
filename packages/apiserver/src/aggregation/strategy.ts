// Strategy of APIService: its name is its version and group. One served by this server is available from the start,
// others after a successful check (aggregator.ts).

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../resources/resource.ts';
import { check, dnsSubdomain, inRange, metaOf, metaUpdate, oneOf } from '../strategies/checks.ts';
import { label1035Name, pathSegmentName } from '../strategies/names.ts';
import { keepMeta } from '../strategies/statusMeta.ts';
import { child, copyField, defaultTo, flag, number, objects, text } from '../strategies/values.ts';
import { LOCAL, withAvailability } from './availability.ts';

const nameRuleOf =
  (object: KubeObject) =>
  (name: string): string[] => {
    const spec = specOf(object);
    const complaints = pathSegmentName(name);
    const wanted = `${text(spec, 'version')}.${text(spec, 'group')}`;
    if (complaints.length > 0 || name === wanted) return complaints;
    return [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`];
  };

function validateSpec(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const [group, version] = [text(spec, 'group'), text(spec, 'version')];
  const legacy = 'only v1 may have an empty group and it better be legacy kube';
  return [
    ...(group === '' && version !== 'v1' ? [required('spec.group', legacy)] : []),
    ...(group === '' ? [] : dnsSubdomain(group, 'spec.group')),
    ...check(label1035Name, version, 'spec.version'),
    ...priority(number(spec, 'groupPriorityMinimum') ?? 0, 20_000, 'spec.groupPriorityMinimum'),
    ...priority(number(spec, 'versionPriority') ?? 0, 1000, 'spec.versionPriority'),
    ...(child(spec, 'service') === undefined ? validateLocal(object) : validateRemote(object)),
  ];
}

const priority = (value: number, max: number, path: string): FieldError[] =>
  value <= 0 || value > max ? [invalid(path, value, `must be positive and less than ${max}`)] : [];

function validateLocal(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const bundle = Buffer.from(text(spec, 'caBundle'), 'base64').length;
  const skip = 'local APIServices may not have insecureSkipTLSVerify';
  return [
    ...(bundle === 0
      ? []
      : [invalid('spec.caBundle', `${bundle} bytes`, 'local APIServices may not have a caBundle')]),
    ...(flag(spec, 'insecureSkipTLSVerify') === true
      ? [invalid('spec.insecureSkipTLSVerify', true, skip)]
      : []),
  ];
}

function validateRemote(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const service = child(spec, 'service')!;
  const port = number(service, 'port') ?? 0;
  const both = flag(spec, 'insecureSkipTLSVerify') === true && text(spec, 'caBundle') !== '';
  return [
    ...['namespace', 'name'].filter((f) => text(service, f) === '').map((f) => required(`spec.service.${f}`)),
    ...(port < 1 || port > 65_535
      ? [invalid('spec.service.port', port, `port is not valid: ${inRange(1, 65_535)}`)]
      : []),
    ...(both ? [invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')] : []),
  ];
}

export const apiServiceStrategy: Strategy = {
  nameRule: pathSegmentName,
  unconditionalUpdate: false,
  applyDefaults: (object) => {
    const service = child(specOf(object), 'service');
    if (service) defaultTo(service, 'port', 443);
  },
  prepareForCreate: (object, { now }) => {
    object['status'] = {};
    if (child(specOf(object), 'service') !== undefined) return;
    const local = withAvailability(object, LOCAL, now);
    if (local) copyField(object, local, 'status');
  },
  validate: (object) => [...nameErrors(object), ...validateSpec(object)],
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...metaOf(next, false, nameRuleOf(next)),
    ...validateSpec(next),
  ],
  subresources: {
    status: {
      prepareForUpdate: (next, old) => {
        copyField(next, old, 'spec');
        keepMeta(next, old);
      },
      validateUpdate: (next) =>
        objects(statusOf(next), 'conditions').flatMap((condition, i) =>
          oneOf(text(condition, 'status'), ['True', 'False', 'Unknown'], `status.conditions[${i}].status`),
        ),
    },
  },
};

const nameErrors = (object: KubeObject): FieldError[] =>
  pathSegmentName(object.metadata.name ?? '').length > 0
    ? []
    : check(nameRuleOf(object), object.metadata.name ?? '', 'metadata.name');
