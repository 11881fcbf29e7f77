// Validation of the metrics of HorizontalPodAutoscalers.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { check, dnsLabel } from '../checks.ts';
import { pathSegmentName } from '../names.ts';
import { containerResourceName, nanos } from '../quantities.ts';
import { child, has, number, part, text, value } from '../values.ts';

/** A name that is required and usable in a path. */
export function segment(name: string, path: string, why = ''): FieldError[] {
  return name === '' ? [required(path, why)] : check(pathSegmentName, name, path);
}

type Reference = (reference: JsonObject, path: string) => FieldError[];
type Source = (source: JsonObject, path: string, reference: Reference) => FieldError[];

const metricErrors = (source: JsonObject, path: string): FieldError[] =>
  segment(text(part(source, 'metric'), 'name'), `${path}.metric.name`, 'must specify a metric name');

const TARGETS = ['Utilization', 'Value', 'AverageValue'];

function targetErrors(source: JsonObject, path: string): FieldError[] {
  const target = part(source, 'target');
  const at = `${path}.target`;
  const type = text(target, 'type');
  const utilization = number(target, 'averageUtilization');
  const positive = (field: string) => {
    const amount: Json | undefined = value(target, field);
    return amount !== undefined && nanos(amount) <= 0n
      ? [invalid(`${at}.${field}`, amount, 'must be positive')]
      : [];
  };
  return [
    ...(type === '' ? [required(`${at}.type`, 'must specify a metric target type')] : []),
    ...(TARGETS.includes(type)
      ? []
      : [invalid(`${at}.type`, type, 'must be either Utilization, Value, or AverageValue')]),
    ...positive('value'),
    ...positive('averageValue'),
    ...(utilization !== undefined && utilization < 1
      ? [invalid(`${at}.averageUtilization`, utilization, 'must be greater than 0')]
      : []),
  ];
}

/** One of two fields of the target is needed, and both are only sometimes allowed. */
function eitherErrors(
  source: JsonObject,
  path: string,
  { one, other, none, both }: { one: string; other: string; none: string; both?: string },
): FieldError[] {
  const target = part(source, 'target');
  if (!has(target, one) && !has(target, other)) return [required(`${path}.target.${other}`, none)];
  return both !== undefined && has(target, one) && has(target, other)
    ? [forbidden(`${path}.target.${one}`, both)]
    : [];
}

const RAW_OR_UTILIZATION = {
  one: 'averageValue',
  other: 'averageUtilization',
  none: 'must set either a target raw value or a target utilization',
  both: 'may not set both a target raw value and a target utilization',
};

/** In the order in which they are validated: of several sources only the first one is. */
const SOURCES: Readonly<Record<string, Source>> = {
  object: (source, path, reference) => [
    ...reference(part(source, 'describedObject'), `${path}.describedObject`),
    ...metricErrors(source, path),
    ...targetErrors(source, path),
    ...eitherErrors(source, path, {
      one: 'value',
      other: 'averageValue',
      none: 'must set either a target value or averageValue',
    }),
  ],
  external: (source, path) => [
    ...metricErrors(source, path),
    ...targetErrors(source, path),
    ...eitherErrors(source, path, {
      one: 'value',
      other: 'averageValue',
      none: 'must set either a target value for metric or a per-pod target',
      both: 'may not set both a target value for metric and a per-pod target',
    }),
  ],
  pods: (source, path) => [
    ...metricErrors(source, path),
    ...targetErrors(source, path),
    ...(has(part(source, 'target'), 'averageValue')
      ? []
      : [required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]),
  ],
  resource: (source, path) => [
    ...(text(source, 'name') === '' ? [required(`${path}.name`, 'must specify a resource name')] : []),
    ...targetErrors(source, path),
    ...eitherErrors(source, path, RAW_OR_UTILIZATION),
  ],
  containerResource: (source, path) => [
    ...(text(source, 'name') === ''
      ? [required(`${path}.name`, 'must specify a resource name')]
      : containerResourceName(text(source, 'name'), `${path}.name`)),
    ...(text(source, 'container') === ''
      ? [required(`${path}.container`, 'must specify a container')]
      : dnsLabel(text(source, 'container'), `${path}.container`)),
    ...targetErrors(source, path),
    ...eitherErrors(source, path, RAW_OR_UTILIZATION),
  ],
};

const TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

export function validateMetric(metric: JsonObject, path: string, reference: Reference): FieldError[] {
  const type = text(metric, 'type');
  const isKnown = TYPES.includes(type);
  const unknown = isKnown ? [] : [notSupported(`${path}.type`, type, TYPES)];
  const wanted = isKnown ? type[0]!.toLowerCase() + type.slice(1) : '';
  const present = Object.keys(SOURCES).filter((field) => child(metric, field));
  const [first] = present;
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric source type')] : []),
    ...unknown,
    ...(first === undefined ? [] : SOURCES[first]!(child(metric, first)!, `${path}.${first}`, reference)),
    ...(isKnown && !present.includes(wanted)
      ? [required(`${path}.${wanted}`, 'must populate information for the given metric source')]
      : []),
    ...unknown,
    ...(present.length === 1
      ? []
      : present
          .filter((field) => field !== wanted)
          .map((field) => forbidden(`${path}.${field}`, 'must populate the given metric source only'))),
  ];
}
