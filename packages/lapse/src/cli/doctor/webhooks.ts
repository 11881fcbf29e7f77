// Checks whether the API server can reach the webhook.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { defineKind, type Kind } from '@lapse/kube/api/kind';
import { OURS } from '@lapse/kube/api/kinds/customKind';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { type DoctorContext, type Examination, type Finding, listIfAllowed } from './finding.ts';

const hookKind = (kind: string, resource: string) =>
  defineKind({ group: 'admissionregistration.k8s.io', version: 'v1', kind, resource, namespaced: false });
const CONFIGURATIONS: readonly Kind[] = [
  hookKind('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
  hookKind('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
];
const EndpointSlice = defineKind({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  namespaced: true,
});

const check = 'webhook';
const items = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const examineWebhooks: Examination = async (doctorContext) => {
  const { client, general } = doctorContext;
  const findings: Finding[] = [];
  let seen = 0;
  for (const kind of CONFIGURATIONS) {
    const all = await listIfAllowed(client, kind);
    if (all === undefined) {
      findings.push({ check, level: 'note', about: kind.resource, message: 'may not be listed' });
      continue;
    }
    for (const configuration of all.filter((one) =>
      isOurConfiguration(one, general.webhook.configurations),
    )) {
      seen++;
      for (const hook of items(asJson(configuration).webhooks))
        findings.push(await examineHook(doctorContext, configuration, hook));
    }
  }
  if (seen === 0 && findings.length === 0)
    findings.push({
      check,
      level: 'note',
      about: 'admission',
      message:
        'the webhook of Lapse is not registered: invalid policies are reported when they are reconciled, not when they are applied',
    });
  return findings;
};

const isOurConfiguration = ({ metadata }: KubeObject, names: readonly string[]): boolean =>
  names.includes(metadata.name ?? '') ||
  Object.entries(OURS).every(([label, value]) => metadata.labels?.[label] === value);

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : 'an invalid URL');

async function examineHook({ client }: DoctorContext, of: KubeObject, hook: JsonObject): Promise<Finding> {
  const about = `${of.metadata.name}: ${String(hook.name)}`;
  const refuses =
    hook.failurePolicy === 'Ignore' ? '' : '; until then the API server refuses the writes that it reviews';
  const { service, url, caBundle } = isObject(hook.clientConfig) ? hook.clientConfig : {};
  // A part of the path is secret.
  if (typeof url === 'string')
    return { check, level: 'note', about, message: `calls ${originOf(url)}: not checked` };
  if (!isObject(service)) return { check, level: 'problem', about, message: 'has neither service nor url' };
  const { namespace = '', name = '' } = service as { namespace?: string; name?: string };
  if (typeof caBundle !== 'string' || caBundle === '')
    return { check, level: 'problem', about, message: `has no caBundle${refuses}` };
  const slices = await listIfAllowed(client, EndpointSlice, namespace);
  if (slices === undefined)
    return {
      check,
      level: 'note',
      about,
      message: `calls ${namespace}/${name}: its endpoints may not be read`,
    };
  const ready = slices
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
    .flatMap((slice) => items(asJson(slice).endpoints))
    .filter(({ conditions }) => !isObject(conditions) || conditions.ready !== false).length;
  if (ready === 0)
    return {
      check,
      level: 'problem',
      about,
      message: `the service ${namespace}/${name} has no ready endpoint${refuses}`,
    };
  return { check, level: 'ok', about, message: `${ready} ready behind ${namespace}/${name}` };
}
