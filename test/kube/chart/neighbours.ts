// The third-party kinds that the chart creates objects of: those of the Prometheus Operator and cert-manager, with the
// fields that the chart uses. Copied from their API references. Strict validation refuses any other field, so that a
// wrong field of the chart is detected. https://prometheus-operator.dev/docs/api-reference/api/,
// https://cert-manager.io/docs/reference/api-docs/

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';

const text: JsonObject = { type: 'string' };
const texts: JsonObject = { type: 'object', additionalProperties: text };
const listOf = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more });
const objectOf = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
});

/** `1h30m`: units from the largest to the smallest, each once. */
const units = ['y', 'w', 'd', 'h', 'm', 's', 'ms'].map((unit) => `([0-9]+${unit})?`);
const duration: JsonObject = { type: 'string', pattern: `^(0|${units.join('')})$` };

const requirement = objectOf({ key: text, operator: text, values: listOf(text) }, 'key', 'operator');
const selector: JsonObject = {
  ...objectOf({ matchLabels: texts, matchExpressions: listOf(requirement) }),
  'x-kubernetes-map-type': 'atomic',
};

const rule = objectOf(
  {
    alert: text,
    annotations: texts,
    expr: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
    for: duration,
    keep_firing_for: { ...duration, minLength: 1 },
    labels: texts,
    record: text,
  },
  'expr',
);
const group = objectOf({ name: { ...text, minLength: 1 }, interval: duration, rules: listOf(rule) }, 'name');
const byName: JsonObject = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
const endpoint = objectOf({
  port: text,
  path: text,
  scheme: text,
  interval: duration,
  scrapeTimeout: duration,
});

const issuerRef = objectOf({ group: text, kind: text, name: text }, 'name');
const usages = { enum: ['digital signature', 'key encipherment', 'server auth', 'client auth'] };

function definitionOf(group: string, kind: string, spec: JsonObject): KubeObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const schema = { openAPIV3Schema: objectOf({ spec }, 'spec') };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

const MONITORING = 'monitoring.coreos.com';
const CERTIFICATES = 'cert-manager.io';

export const NEIGHBOURS: readonly KubeObject[] = [
  definitionOf(
    MONITORING,
    'ServiceMonitor',
    objectOf({ endpoints: listOf(endpoint), jobLabel: text, selector }, 'endpoints', 'selector'),
  ),
  definitionOf(MONITORING, 'PrometheusRule', objectOf({ groups: listOf(group, byName) })),
  definitionOf(
    CERTIFICATES,
    'Issuer',
    objectOf({ selfSigned: objectOf({ crlDistributionPoints: listOf(text) }) }),
  ),
  definitionOf(
    CERTIFICATES,
    'Certificate',
    objectOf(
      {
        commonName: text,
        dnsNames: listOf(text, { 'x-kubernetes-list-type': 'atomic' }),
        duration: text,
        issuerRef,
        renewBefore: text,
        secretName: text,
        usages: listOf({ type: 'string', ...usages }),
      },
      'issuerRef',
      'secretName',
    ),
  ),
];

/** `ServiceMonitor`, … */
export const NEIGHBOUR_KINDS: readonly string[] = NEIGHBOURS.map(
  ({ spec }) => (spec as { names: { kind: string } }).names.kind,
);
