// Validation of probes and lifecycle hooks: exactly one handler, and valid numbers.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { check, nonNegative, portNumber } from '../checks.ts';
import { portName } from '../names.ts';
import { child, has, list, number, objects, text, value } from '../values.ts';

/** A port number or name. */
export const portOrName = (port: Json | undefined, path: string): FieldError[] =>
  typeof port === 'string' ? check(portName, port, path) : portNumber(Number(port ?? 0), path);

const headerName = (name: string): string[] =>
  /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ];

function validateHttpGet(action: JsonObject, path: string): FieldError[] {
  const scheme = text(action, 'scheme');
  return [
    ...(text(action, 'path') === '' ? [required(`${path}.path`)] : []),
    ...portOrName(value(action, 'port'), `${path}.port`),
    ...(scheme === 'HTTP' || scheme === 'HTTPS'
      ? []
      : [notSupported(`${path}.scheme`, scheme, ['HTTP', 'HTTPS'])]),
    ...objects(action, 'httpHeaders').flatMap((h) =>
      check(headerName, text(h, 'name'), `${path}.httpHeaders`),
    ),
  ];
}

type Grace = number | undefined;
type ActionRule = (action: JsonObject, path: string, grace: Grace) => FieldError[];

const ACTIONS: readonly (readonly [string, ActionRule])[] = [
  ['exec', (a, path) => (list(a, 'command').length === 0 ? [required(`${path}.command`)] : [])],
  ['httpGet', validateHttpGet],
  ['tcpSocket', (a, path) => portOrName(value(a, 'port'), `${path}.port`)],
  ['grpc', (a, path) => portOrName(value(a, 'port'), `${path}.port`)],
  ['sleep', validateSleep],
];

function validateSleep(action: JsonObject, path: string, grace: Grace): FieldError[] {
  const seconds = number(action, 'seconds') ?? 0;
  if (grace === undefined || (seconds >= 0 && seconds <= grace)) return [];
  const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [invalid(path, seconds, why)];
}

function validateHandler(handler: JsonObject, grace: Grace, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let given = 0;
  for (const [name, validate] of ACTIONS) {
    const action = child(handler, name);
    if (!action) continue;
    if (given++ > 0) errors.push(forbidden(`${path}.${name}`, 'may not specify more than 1 handler type'));
    else errors.push(...validate(action, `${path}.${name}`, grace));
  }
  return given === 0 ? [required(path, 'must specify a handler type')] : errors;
}

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function validateProbe(probe: JsonObject, grace: Grace, path: string): FieldError[] {
  const own = number(probe, 'terminationGracePeriodSeconds');
  return [
    ...validateHandler(probe, grace, path),
    ...COUNTS.flatMap((name) => nonNegative(number(probe, name) ?? 0, `${path}.${name}`)),
    ...(own !== undefined && own <= 0
      ? [invalid(`${path}.terminationGracePeriodSeconds`, own, 'must be greater than 0')]
      : []),
  ];
}

export function validateProbes(container: JsonObject, grace: Grace, path: string): FieldError[] {
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) => {
    const probe = child(container, name);
    if (!probe) return [];
    const at = `${path}.${name}`;
    const errors = validateProbe(probe, grace, at);
    const successes = number(probe, 'successThreshold') ?? 0;
    if (name === 'readinessProbe') {
      const field = `${at}.terminationGracePeriodSeconds`;
      const own = value(probe, 'terminationGracePeriodSeconds');
      if (own !== undefined) errors.push(invalid(field, own, 'must not be set for readinessProbes'));
    } else if (successes !== 1) errors.push(invalid(`${at}.successThreshold`, successes, 'must be 1'));
    return errors;
  });
}

export function validateLifecycle(container: JsonObject, grace: Grace, path: string): FieldError[] {
  const lifecycle = child(container, 'lifecycle');
  if (!lifecycle) return [];
  return ['postStart', 'preStop'].flatMap((name) => {
    const handler = child(lifecycle, name);
    return handler ? validateHandler(handler, grace, `${path}.lifecycle.${name}`) : [];
  });
}

const SIDECAR_ONLY = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

/** Fields that only sidecar init containers may have. */
export const forbiddenForInit = (container: JsonObject, path: string): FieldError[] =>
  SIDECAR_ONLY.filter((name) => has(container, name)).map((name) =>
    forbidden(`${path}.${name}`, 'may not be set for init containers without restartPolicy=Always'),
  );
