// Strategy of PriorityLevelConfiguration. The server has no priority levels: these objects have no effect.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { bootstrapData } from '../../data/tables.ts';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { inRange } from '../checks.ts';
import { child, number, part, text } from '../values.ts';
import { flowControlStrategy } from './flowControl.ts';

const ROUND_TRIP = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

function validate(level: KubeObject): FieldError[] {
  return [
    ...(level.metadata.annotations?.[ROUND_TRIP] === undefined
      ? []
      : [forbidden('metadata.annotations', `annotation '${ROUND_TRIP}' is forbidden`)]),
    ...validateSpec(specOf(level), level.metadata.name ?? ''),
    ...fixedErrors(level),
  ];
}

/** The shares of `exempt` may be changed; the rest of it, and `catch-all`, are fixed. */
function fixedErrors(level: KubeObject): FieldError[] {
  const { name = '' } = level.metadata;
  if (!['catch-all', 'exempt'].includes(name)) return [];
  const defaults = bootstrapData()['prioritylevelconfigurations.flowcontrol.apiserver.k8s.io']!;
  const fixed = specOf(defaults.find((other) => other.metadata.name === name)!);
  const spec = specOf(level);
  if (name === 'catch-all')
    return equal(spec, fixed) ? [] : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)];
  const why = `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`;
  return equal({ ...spec, exempt: fixed['exempt'] }, fixed) ? [] : [invalid('spec', spec, why)];
}

function validateSpec(spec: JsonObject, name: string): FieldError[] {
  const type = text(spec, 'type');
  const mismatch = (name === 'exempt') !== (type === 'Exempt');
  return [
    ...(mismatch ? [invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'")] : []),
    ...validateType(spec, type),
  ];
}

function validateType(spec: JsonObject, type: string): FieldError[] {
  const [limited, exempt] = [child(spec, 'limited'), child(spec, 'exempt')];
  switch (type) {
    case 'Exempt':
      return [
        ...(limited ? [forbidden('spec.limited', 'must be nil if the type is not Limited')] : []),
        ...(exempt ? shareErrors(exempt, 'spec.exempt') : []),
      ];
    case 'Limited':
      return [
        ...(exempt ? [forbidden('spec.exempt', 'must be nil if the type is Limited')] : []),
        ...(limited
          ? validateLimited(limited, 'spec.limited')
          : [required('spec.limited', 'must not be empty when type is Limited')]),
      ];
    case '':
      return [required('spec.type')];
    default:
      return [notSupported('spec.type', type, ['Exempt', 'Limited'])];
  }
}

function validateLimited(limited: JsonObject, path: string): FieldError[] {
  const borrowing = number(limited, 'borrowingLimitPercent') ?? 0;
  const [shares, lendable] = [sharesErrors(limited, path), lendableErrors(limited, path)];
  return [
    ...shares,
    ...validateResponse(part(limited, 'limitResponse'), `${path}.limitResponse`),
    ...lendable,
    ...(borrowing < 0
      ? [invalid(`${path}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer')]
      : []),
  ];
}

const shareErrors = (config: JsonObject, path: string): FieldError[] => [
  ...sharesErrors(config, path),
  ...lendableErrors(config, path),
];

function sharesErrors(config: JsonObject, path: string): FieldError[] {
  const shares = number(config, 'nominalConcurrencyShares') ?? 0;
  return shares < 0
    ? [invalid(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')]
    : [];
}

function lendableErrors(config: JsonObject, path: string): FieldError[] {
  const percent = number(config, 'lendablePercent') ?? 0;
  return percent < 0 || percent > 100 ? [invalid(`${path}.lendablePercent`, percent, inRange(0, 100))] : [];
}

function validateResponse(response: JsonObject, path: string): FieldError[] {
  const type = text(response, 'type');
  const queuing = child(response, 'queuing');
  const at = `${path}.queuing`;
  switch (type) {
    case 'Reject':
      return queuing ? [forbidden(at, 'must be nil if limited.limitResponse.type is not Limited')] : [];
    case 'Queue':
      return queuing
        ? validateQueuing(queuing, at)
        : [required(at, 'must not be empty if limited.limitResponse.type is Limited')];
    case '':
      return [required(`${path}.type`)];
    default:
      return [notSupported(`${path}.type`, type, ['Queue', 'Reject'])];
  }
}

const MAX_QUEUES = 10_000_000;
const MAX_HASH_BITS = 60;

function validateQueuing(queuing: JsonObject, path: string): FieldError[] {
  const [length, queues, hand] = ['queueLengthLimit', 'queues', 'handSize'].map(
    (field) => number(queuing, field) ?? 0,
  ) as [number, number, number];
  const refuse = (field: string, given: number, why: string) => [invalid(`${path}.${field}`, given, why)];
  return [
    ...(length <= 0 ? refuse('queueLengthLimit', length, 'must be positive') : []),
    ...(queues <= 0 ? refuse('queues', queues, 'must be positive') : []),
    ...(queues > MAX_QUEUES ? refuse('queues', queues, `must not be greater than ${MAX_QUEUES}`) : []),
    ...handErrors(queues, hand).flatMap((why) => refuse('handSize', hand, why)),
  ];
}

function handErrors(queues: number, hand: number): string[] {
  if (hand <= 0) return ['must be positive'];
  if (hand > queues) return [`should not be greater than queues (${queues})`];
  // Shuffle sharding chooses all queues of a hand by one hash.
  return Math.ceil(Math.log2(queues) * hand) > MAX_HASH_BITS
    ? [
        `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${MAX_HASH_BITS}`,
      ]
    : [];
}

export const priorityLevelStrategy: Strategy = flowControlStrategy(validate);
