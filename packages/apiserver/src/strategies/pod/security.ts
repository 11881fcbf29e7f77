// Validation of security contexts of Pods and containers: id ranges and profiles. Windows options are not validated.

import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { inRange, oneOf } from '../checks.ts';
import { child, flag, has, list, number, objects, text, texts, value } from '../values.ts';
import { descendingPath } from './paths.ts';

const MAX_ID = 2_147_483_647;

const idErrors = (context: JsonObject, field: string, path: string): FieldError[] => {
  const id = number(context, field);
  return id !== undefined && (id < 0 || id > MAX_ID)
    ? [invalid(`${path}.${field}`, id, inRange(0, MAX_ID))]
    : [];
};

export function validatePodSecurity(spec: JsonObject, path: string): FieldError[] {
  const context = child(spec, 'securityContext');
  if (!context) return [];
  const at = `${path}.securityContext`;
  const groups = list(context, 'supplementalGroups').flatMap((gid, i) =>
    Number(gid) < 0 || Number(gid) > MAX_ID
      ? [invalid(`${at}.supplementalGroups[${i}]`, gid, inRange(0, MAX_ID))]
      : [],
  );
  const both = flag(spec, 'shareProcessNamespace') === true && flag(spec, 'hostPID') === true;
  const choice = (field: string, values: string[]) =>
    has(context, field) ? oneOf(text(context, field), values, `${at}.${field}`) : [];
  return [
    ...['fsGroup', 'runAsUser', 'runAsGroup'].flatMap((f) => idErrors(context, f, at)),
    ...groups,
    ...(both
      ? [
          invalid(
            `${at}.shareProcessNamespace`,
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...validateSysctls(spec, context, `${at}.sysctls`),
    ...choice('fsGroupChangePolicy', ['Always', 'OnRootMismatch']),
    ...validateSeccomp(context, at),
    ...validateAppArmor(context, at),
    ...choice('supplementalGroupsPolicy', ['Merge', 'Strict']),
    // The other value needs a feature gate that is disabled by default.
    ...choice('seLinuxChangePolicy', ['Recursive']),
  ];
}

const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SEGMENT}[\\./])*${SEGMENT}$`;
const MAX_SYSCTL = 253;
/** The host namespace that a kernel parameter belongs to. */
const HOST_PARAMETERS: readonly (readonly [string, RegExp])[] = [
  ['hostNetwork', /^net\./],
  [
    'hostIPC',
    /^(kernel\.(sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)$|fs\.mqueue\.)/,
  ],
];

function validateSysctls(spec: JsonObject, context: JsonObject, path: string): FieldError[] {
  const names = new Set<string>();
  return objects(context, 'sysctls').flatMap((sysctl, i) => {
    const [name, at] = [text(sysctl, 'name'), `${path}[${i}].name`];
    const why = `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL}`;
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(at));
    else if (name.length > MAX_SYSCTL || !new RegExp(SYSCTL).test(name)) errors.push(invalid(at, name, why));
    else if (names.has(name)) errors.push(duplicate(at, name));
    names.add(name);
    const dotted = name.includes('/') && !/^[^/]*\./.test(name) ? name.replaceAll('/', '.') : name;
    const shared = HOST_PARAMETERS.find(([field, form]) => flag(spec, field) === true && form.test(dotted));
    return shared
      ? [...errors, invalid(at, name, `may not be specified when '${shared[0]}' is true`)]
      : errors;
  });
}

export function validateContainerSecurity(
  container: JsonObject,
  hostUsers: boolean,
  path: string,
): FieldError[] {
  const context = child(container, 'securityContext');
  if (!context) return [];
  const at = `${path}.securityContext`;
  const errors = ['runAsUser', 'runAsGroup'].flatMap((f) => idErrors(context, f, at));
  const proc = text(context, 'procMount');
  if (has(context, 'procMount')) {
    errors.push(...oneOf(proc, ['Default', 'Unmasked'], `${at}.procMount`));
    if (hostUsers && proc === 'Unmasked')
      errors.push(invalid(`${at}.procMount`, proc, '`hostUsers` must be false to use `Unmasked`'));
  }
  errors.push(...validateSeccomp(context, at));
  if (flag(context, 'allowPrivilegeEscalation') === false) {
    const prefix = 'cannot set `allowPrivilegeEscalation` to false and';
    if (flag(context, 'privileged')) errors.push(invalid(at, context, `${prefix} \`privileged\` to true`));
    if (texts(child(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN'))
      errors.push(invalid(at, context, `${prefix} \`capabilities.Add\` CAP_SYS_ADMIN`));
  }
  return [...errors, ...validateAppArmor(context, at)];
}

const PROFILES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateSeccomp(context: JsonObject, path: string): FieldError[] {
  const profile = child(context, 'seccompProfile');
  if (!profile) return [];
  const at = `${path}.seccompProfile`;
  const [type, local] = [text(profile, 'type'), value(profile, 'localhostProfile')];
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${at}.type`, 'type is required when seccompProfile is set'));
  else if (!PROFILES.includes(type)) errors.push(notSupported(`${at}.type`, type, PROFILES));
  if (type === 'Localhost') {
    if (local === undefined)
      errors.push(required(`${at}.localhostProfile`, 'must be set when seccomp type is Localhost'));
    else errors.push(...descendingPath(String(local), `${at}.localhostProfile`));
  } else if (local !== undefined)
    errors.push(invalid(`${at}.localhostProfile`, profile, 'can only be set when seccomp type is Localhost'));
  return errors;
}

const MAX_PROFILE = 4095;

function validateAppArmor(context: JsonObject, path: string): FieldError[] {
  const profile = child(context, 'appArmorProfile');
  if (!profile) return [];
  const at = `${path}.appArmorProfile`;
  const [type, local] = [text(profile, 'type'), value(profile, 'localhostProfile')];
  if (type === '') return [required(`${at}.type`, 'type is required when appArmorProfile is set')];
  if (!PROFILES.includes(type)) return [notSupported(`${at}.type`, type, PROFILES)];
  if (type !== 'Localhost')
    return local === undefined
      ? []
      : [invalid(`${at}.localhostProfile`, local, 'can only be set when AppArmor type is Localhost')];
  const name = String(local ?? '');
  if (name.trim() === '' && name === name.trim())
    return [required(`${at}.localhostProfile`, 'must be set when AppArmor type is Localhost')];
  if (name !== name.trim())
    return [invalid(`${at}.localhostProfile`, name, 'must not be padded with whitespace')];
  return name.length > MAX_PROFILE ? [tooLong(`${at}.localhostProfile`, MAX_PROFILE)] : [];
}
