// Strategy of Events in the core group, and the additional rules of events.k8s.io. Both share one stored resource, in
// the core form; the other form has other field names (eventForms.ts).

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import { equal, type Json } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { immutable, metaUpdate, qualifiedName } from '../checks.ts';
import { pathSegmentName, subdomainName } from '../names.ts';
import { child, number, part, text, value } from '../values.ts';
import { toCore } from './eventForms.ts';

const LIMIT = 128;
const NOTE_LIMIT = 1024;

const isSet = (event: KubeObject, field: string) => (value(event, field) ?? null) !== null;

/** Validation for both versions, in the core form. */
function validateShared(event: KubeObject, controllerField: string): FieldError[] {
  const { namespace } = event.metadata;
  const about = text(part(event, 'involvedObject'), 'namespace');
  const elsewhere = [invalid('involvedObject.namespace', about, 'does not match event.namespace')];
  if (!isSet(event, 'eventTime')) {
    const fits = about === '' ? namespace === 'default' || !namespace : about === namespace;
    return fits ? [] : elsewhere;
  }
  const homeless = about === '' && namespace !== 'default' && namespace !== 'kube-system';
  const controller = text(event, 'reportingComponent');
  return [
    ...(homeless ? elsewhere : []),
    ...(controller === '' ? [required(controllerField)] : []),
    ...qualifiedName(controller, controllerField),
    ...requiredText(event, 'reportingInstance'),
    ...requiredText(event, 'action'),
    ...requiredText(event, 'reason'),
    ...tooLongText(event, 'message', NOTE_LIMIT),
  ];
}

const requiredText = (event: KubeObject, field: string): FieldError[] =>
  text(event, field) === '' ? [required(field)] : tooLongText(event, field, LIMIT);

const tooLongText = (event: KubeObject, field: string, limit: number): FieldError[] =>
  Buffer.byteLength(text(event, field)) > limit
    ? [invalid(field, '', `can have at most ${limit} characters`)]
    : [];

function validateSeries(event: KubeObject): FieldError[] {
  const series = child(event, 'series');
  if (!series) return [];
  const few = (number(series, 'count') ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : [];
  const unseen = value(series, 'lastObservedTime') ? [] : [required('series.lastObservedTime')];
  return [...few, ...unseen];
}

const unset = (event: KubeObject, field: string): FieldError[] =>
  isSet(event, field) ? [invalid(field, '', 'needs to be unset')] : [];

/** Validation for new events of events.k8s.io/v1 only: the deprecated fields must be empty. */
function validateModern(event: KubeObject): FieldError[] {
  const type = text(event, 'type');
  const source = part(event, 'source');
  const sourced = text(source, 'component') !== '' || text(source, 'host') !== '';
  return [
    ...validateSeries(event),
    ...(isSet(event, 'eventTime') ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset(event, 'firstTimestamp'),
    ...unset(event, 'lastTimestamp'),
    ...((number(event, 'count') ?? 0) === 0 ? [] : [invalid('count', '', 'needs to be unset')]),
    ...(sourced ? [invalid('source', '', 'needs to be unset')] : []),
  ];
}

/** Fields in the order in which Kubernetes compares them (reason twice); the second name is the one in errors. */
const FIXED: readonly (readonly [string, string])[] = [
  ...[
    'involvedObject',
    'reason',
    'message',
    'source',
    'firstTimestamp',
    'lastTimestamp',
    'count',
    'reason',
  ].map((f) => [f, f] as const),
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
];

const TEXTS = new Set(['reason', 'message', 'type', 'action', 'reportingComponent', 'reportingInstance']);

/** Absent strings are empty, in comparisons and in errors. */
const fieldOf = (event: KubeObject, name: string): Json | undefined =>
  value(event, name) ?? (TEXTS.has(name) ? '' : undefined);

function validateModernUpdate(next: KubeObject, old: KubeObject): FieldError[] {
  return [
    ...metaUpdate(next, old),
    ...(equal(fieldOf(next, 'series'), fieldOf(old, 'series')) ? [] : validateSeries(next)),
    ...FIXED.flatMap(([field, shown]) => immutable(fieldOf(next, field), fieldOf(old, field), shown)),
  ];
}

const COMMON = {
  nameRule: subdomainName,
  createOnUpdate: true,
  defaultPropagation: 'Unsupported',
  validatesMeta: true,
} as const;

export const eventStrategy: Strategy = {
  ...COMMON,
  // The core API only validates that the name is a valid path segment.
  nameRule: pathSegmentName,
  anyFinalizer: true,
  metaLast: true,
  validate: (event) => validateShared(event, 'reportingComponent'),
  validateUpdate: (next) => validateShared(next, 'reportingComponent'),
};

/** The same for events.k8s.io/v1, whose objects have their own form. */
export const modernEventStrategy: Strategy = {
  ...COMMON,
  validate(event) {
    const core = toCore(event);
    return [...validateShared(core, 'reportingController'), ...validateModern(core)];
  },
  validateUpdate(next, old) {
    const [core, before] = [toCore(next), toCore(old)];
    return [...validateShared(core, 'reportingController'), ...validateModernUpdate(core, before)];
  },
};
