// Warnings about Pod specs that are valid but may not work as intended.

import type { JsonObject } from '@lapse/kube/api/json';
import { cacheValid } from '../cacheValid.ts';
import { nanos } from '../quantities.ts';
import { child, number, objects, part, stringMap, text } from '../values.ts';
import { volumeWarnings } from './volumeWarnings.ts';

const OLD_LABELS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

/** `prefix`: the path of the template, with a trailing dot; empty for a Pod. */
export const podWarnings = (spec: JsonObject, prefix = ''): string[] => specWarnings(spec, `${prefix}spec`);

const specWarnings = cacheValid((spec: JsonObject, path: string): string[] => {
  const selector = Object.keys(stringMap(spec, 'nodeSelector')).filter((k) => Object.hasOwn(OLD_LABELS, k));
  const spread = objects(spec, 'topologySpreadConstraints').flatMap((c, i) =>
    child(c, 'labelSelector')
      ? []
      : [
          `${path}.topologySpreadConstraints[${i}].labelSelector: a null labelSelector results in matching no pod`,
        ],
  );
  const grace = number(spec, 'terminationGracePeriodSeconds') ?? 0;
  const endless = `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`;
  return [
    ...selector.map((k) => `${path}.nodeSelector[${k}]: ${OLD_LABELS[k]}`),
    ...spread,
    ...volumeWarnings(spec, path),
    ...repeated(objects(spec, 'hostAliases'), 'ip', `${path}.hostAliases`),
    ...repeated(objects(spec, 'imagePullSecrets'), 'name', `${path}.imagePullSecrets`),
    ...fractionWarnings(part(spec, 'overhead'), `${path}.overhead`),
    ...containerWarnings(spec, path),
    ...portWarnings(spec, path),
    ...(grace < 0 ? [endless] : []),
    ...affinityWarnings(spec, `${path}.affinity`),
  ];
});

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function affinityWarnings(spec: JsonObject, path: string): string[] {
  const matchesNoPod = 'a null labelSelector results in matching no pod';
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const affinity = child(child(spec, 'affinity'), kind);
    return [
      ...objects(affinity, REQUIRED).flatMap((term, i) =>
        child(term, 'labelSelector')
          ? []
          : [`${path}.${kind}.${REQUIRED}[${i}].labelSelector: ${matchesNoPod}`],
      ),
      ...objects(affinity, PREFERRED).flatMap((term, i) =>
        child(child(term, 'podAffinityTerm'), 'labelSelector')
          ? []
          : [`${path}.${kind}.${PREFERRED}[${i}].podAffinityTerm.labelSelector: ${matchesNoPod}`],
      ),
    ];
  });
}

function repeated(items: JsonObject[], field: string, path: string): string[] {
  return items.flatMap((item, i) => {
    const value = text(item, field);
    const out = items.slice(0, i).some((other) => text(other, field) === value)
      ? [`${path}[${i}].${field}: duplicate ${field} "${value}"`]
      : [];
    return field === 'name' && value === '' ? [...out, `${path}[${i}].name: invalid empty name ""`] : out;
  });
}

/** Every container with its path, in the order of Kubernetes. */
const visit = (spec: JsonObject, path: string): [JsonObject, string][] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    objects(spec, list).map((c, i): [JsonObject, string] => [c, `${path}.${list}[${i}]`]),
  );

const BYTES = ['memory', 'ephemeral-storage'];

const fractionWarnings = (list: JsonObject, path: string, names = BYTES): string[] =>
  names.flatMap((name) => {
    const amount = list[name];
    return amount !== undefined && nanos(amount) % 1_000_000_000n !== 0n
      ? [`${path}[${name}]: fractional byte value "${amount}" is invalid, must be an integer`]
      : [];
  });

function containerWarnings(spec: JsonObject, path: string): string[] {
  return visit(spec, path).flatMap(([container, at]) => [
    ...BYTES.flatMap((name) =>
      ['limits', 'requests'].flatMap((list) =>
        fractionWarnings(part(part(container, 'resources'), list), `${at}.resources.${list}`, [name]),
      ),
    ),
    ...hiddenVariables(container, at),
  ]);
}

function hiddenVariables(container: JsonObject, path: string): string[] {
  const variables = objects(container, 'env');
  return variables.flatMap((variable, i) => {
    const name = text(variable, 'name');
    if (!variables.slice(0, i).some((v) => text(v, 'name') === name)) return [];
    const reference = `$(${name})`;
    const value = text(variable, 'value');
    // A variable that extends an earlier one of the same name is intended.
    if (!child(variable, 'valueFrom') && value !== reference && value.includes(reference)) return [];
    return [
      `${path}.env[${i}]: hides previous definition of "${name}", which may be dropped when using apply`,
    ];
  });
}

interface Port {
  readonly at: string;
  readonly port: JsonObject;
}

function portWarnings(spec: JsonObject, path: string): string[] {
  const all = visit(spec, path).flatMap(([container, at]) =>
    objects(container, 'ports').map((port, i): Port => ({ at: `${at}.ports[${i}]`, port })),
  );
  const overlaps = all.flatMap((one, i) => [
    ...(text(one.port, 'hostIP') !== '' && (number(one.port, 'hostPort') ?? 0) === 0
      ? [`${one.at}: hostIP set without hostPort: ${printed(one.port)}`]
      : []),
    ...all.slice(0, i).flatMap((other) => {
      const clash = clashOf(one.port, other.port);
      return clash ? [`${one.at}: ${clash} with ${other.at}`] : [];
    }),
  ]);
  const names = all.flatMap(({ at, port }, i) => {
    const name = text(port, 'name');
    const first = name === '' ? undefined : all.slice(0, i).find((p) => text(p.port, 'name') === name)?.at;
    return first
      ? [
          `${at}: duplicate port name "${name}" with ${first}, services and probes that select ports by name will use ${first}`,
        ]
      : [];
  });
  return [...overlaps, ...names];
}

/** A port as Go prints the struct. */
const printed = (port: JsonObject): string =>
  `{Name:${text(port, 'name')} HostPort:0 ContainerPort:${number(port, 'containerPort') ?? 0} Protocol:${text(port, 'protocol')} HostIP:${text(port, 'hostIP')}}`;

function clashOf(a: JsonObject, b: JsonObject): string | undefined {
  if (
    number(a, 'containerPort') !== number(b, 'containerPort') ||
    text(a, 'protocol') !== text(b, 'protocol')
  )
    return undefined;
  const [portA, portB] = [number(a, 'hostPort') ?? 0, number(b, 'hostPort') ?? 0];
  const [ipA, ipB] = [text(a, 'hostIP'), text(b, 'hostIP')];
  if (portA === portB && ipA === ipB) return 'duplicate port definition';
  if (portA === 0 || portB === 0) return 'overlapping port definition';
  return portA === portB && (ipA === '') !== (ipB === '')
    ? 'dangerously ambiguous port definition'
    : undefined;
}
