// Validation of containers and init containers of a Pod.

import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooMany,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { check, dnsLabel, inRange, oneOf } from '../checks.ts';
import { portName } from '../names.ts';
import { has, list, number, objects, part, text } from '../values.ts';
import { validateEnv } from './env.ts';
import { type Volumes, validateDevices, validateMounts } from './mounts.ts';
import { forbiddenForInit, validateLifecycle, validateProbes } from './probes.ts';
import { validatePullPolicy } from './pullPolicy.ts';
import { validateResources } from './resources.ts';
import { validateContainerSecurity } from './security.ts';

/** The parts of the Pod that containers refer to. */
export interface PodParts {
  readonly volumes: Volumes;
  readonly claims: readonly string[];
  readonly grace: number | undefined;
  readonly hostUsers: boolean;
  readonly restartPolicy: string;
}

export function validateContainers(spec: JsonObject, pod: PodParts, path: string): FieldError[] {
  const containers = objects(spec, 'containers');
  if (containers.length === 0) return [required(`${path}.containers`)];
  const names = new Set<string>();
  const errors = containers.flatMap((container, i) => {
    const at = `${path}.containers[${i}]`;
    const name = text(container, 'name');
    const own = validateCommon(container, pod, at);
    if (names.has(name)) own.push(duplicate(`${at}.name`, name));
    names.add(name);
    return [
      ...own,
      ...validateLifecycle(container, pod.grace, at),
      ...validateProbes(container, pod.grace, at),
      ...validateRestart(container, at),
    ];
  });
  return [...errors, ...hostPortConflicts(containers, `${path}.containers`)];
}

export function validateInitContainers(spec: JsonObject, pod: PodParts, path: string): FieldError[] {
  const names = new Set(objects(spec, 'containers').map((c) => text(c, 'name')));
  return objects(spec, 'initContainers').flatMap((container, i) => {
    const list = `${path}.initContainers`;
    const at = `${list}[${i}]`;
    const name = text(container, 'name');
    const restart = validateRestart(container, at);
    // Rules without a policy are not validated further here.
    const unguided = restart.slice(0, has(container, 'restartPolicy') ? undefined : 1);
    const errors = [...validateCommon(container, pod, at), ...unguided];
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else if (name !== '') names.add(name);
    errors.push(...hostPortConflicts([container], list));
    if (text(container, 'restartPolicy') !== 'Always') return [...errors, ...forbiddenForInit(container, at)];
    return [
      ...errors,
      ...validateLifecycle(container, pod.grace, at),
      ...validateProbes(container, pod.grace, at),
    ];
  });
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

export function validateCommon(container: JsonObject, pod: PodParts, path: string): FieldError[] {
  const [name, policy] = [text(container, 'name'), text(container, 'terminationMessagePolicy')];
  return [
    ...(name === '' ? [required(`${path}.name`)] : dnsLabel(name, `${path}.name`)),
    ...(text(container, 'image') === '' ? [required(`${path}.image`)] : []),
    ...(policy === ''
      ? [required(`${path}.terminationMessagePolicy`)]
      : oneOf(policy, MESSAGE_POLICIES, `${path}.terminationMessagePolicy`)),
    ...validatePorts(container, `${path}.ports`),
    ...validateEnv(container, path),
    ...validateMounts(container, pod.volumes, path),
    ...validateDevices(container, pod.volumes, path),
    ...validatePullPolicy(text(container, 'imagePullPolicy'), `${path}.imagePullPolicy`),
    ...validateResources(part(container, 'resources'), `${path}.resources`, pod.claims),
    ...validateResize(container, pod.restartPolicy, `${path}.resizePolicy`),
    ...validateContainerSecurity(container, pod.hostUsers, path),
  ];
}

/** Only for Pods: templates may predate this rule. */
export function paddedImage(container: JsonObject, path: string): FieldError[] {
  const image = text(container, 'image');
  const why = 'must not have leading or trailing whitespace';
  return image === image.trim() ? [] : [invalid(`${path}.image`, image, why)];
}

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

const portErrors = (port: number, path: string): FieldError[] =>
  port < 1 || port > 65_535 ? [invalid(path, port, inRange(1, 65_535))] : [];

function validatePorts(container: JsonObject, path: string): FieldError[] {
  const names = new Set<string>();
  return objects(container, 'ports').flatMap((port, i) => {
    const at = `${path}[${i}]`;
    const [name, protocol] = [text(port, 'name'), text(port, 'protocol')];
    const [inner, outer] = [number(port, 'containerPort') ?? 0, number(port, 'hostPort') ?? 0];
    const errors = name === '' ? [] : check(portName, name, `${at}.name`);
    if (name !== '' && errors.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    return [
      ...errors,
      ...(inner === 0 ? [required(`${at}.containerPort`)] : portErrors(inner, `${at}.containerPort`)),
      ...(outer === 0 ? [] : portErrors(outer, `${at}.hostPort`)),
      ...(protocol === '' ? [required(`${at}.protocol`)] : oneOf(protocol, PROTOCOLS, `${at}.protocol`)),
    ];
  });
}

/** Containers of a Pod cannot share a host port. */
function hostPortConflicts(containers: JsonObject[], path: string): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap((container, c) =>
    objects(container, 'ports').flatMap((port, p) => {
      const outer = number(port, 'hostPort') ?? 0;
      if (outer === 0) return [];
      const key = `${text(port, 'protocol')}/${text(port, 'hostIP')}/${outer}`;
      if (taken.has(key)) return [duplicate(`${path}[${c}].ports[${p}].hostPort`, key)];
      taken.add(key);
      return [];
    }),
  );
}

function validateResize(container: JsonObject, restartPolicy: string, path: string): FieldError[] {
  const seen = new Set<string>();
  return objects(container, 'resizePolicy').flatMap((policy, i) => {
    const [name, restart] = [text(policy, 'resourceName'), text(policy, 'restartPolicy')];
    const errors = seen.has(name) ? [duplicate(`${path}[${i}]`, name)] : [];
    seen.add(name);
    errors.push(...(name === '' ? [required(path)] : oneOf(name, ['cpu', 'memory'], path)));
    errors.push(
      ...(restart === '' ? [required(path)] : oneOf(restart, ['NotRequired', 'RestartContainer'], path)),
    );
    if (restartPolicy === 'Never' && restart !== 'NotRequired')
      errors.push(invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    return errors;
  });
}

const RULE_ACTIONS = ['Restart', 'RestartAllContainers'];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** Validates the restartPolicy of one container, and its rules by exit code. */
function validateRestart(container: JsonObject, path: string): FieldError[] {
  const rules = objects(container, 'restartPolicyRules');
  const errors: FieldError[] = [];
  if (has(container, 'restartPolicy'))
    errors.push(
      ...oneOf(text(container, 'restartPolicy'), ['Always', 'Never', 'OnFailure'], `${path}.restartPolicy`),
    );
  else if (rules.length > 0)
    errors.push(required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'));
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.restartPolicyRules`, rules.length, MAX_RULES));
  return [...errors, ...rules.flatMap((rule, i) => validateRule(rule, `${path}.restartPolicyRules[${i}]`))];
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const action = text(rule, 'action');
  const errors = RULE_ACTIONS.includes(action) ? [] : [notSupported(`${path}.action`, action, RULE_ACTIONS)];
  if (!has(rule, 'exitCodes')) return [...errors, required(`${path}.exitCodes`, 'must be specified')];
  const codes = part(rule, 'exitCodes');
  errors.push(...oneOf(text(codes, 'operator'), ['In', 'NotIn'], `${path}.exitCodes.operator`));
  const count = list(codes, 'values').length;
  if (count > MAX_EXIT_CODES) errors.push(tooMany(`${path}.exitCodes.values`, count, MAX_EXIT_CODES));
  return errors;
}
