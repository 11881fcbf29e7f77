// Defaults of Pods and Pod templates that depend on other fields, and the effects of a round trip through the
// internal version of Kubernetes: service account and Pod IP each have two fields.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { compareQuantities, withMissing } from '../quantities.ts';
import { assign, child, defaultTo, flag, list, number, objects, part, text } from '../values.ts';
import { defaultPodResources } from './podResources.ts';
import { defaultPullPolicy } from './pullPolicy.ts';
import { VOLUME_SOURCES } from './volumes.ts';

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];

/** For every Pod spec, in a Pod or in a template. */
export function defaultPodSpec(spec: JsonObject | undefined): void {
  if (!spec) return;
  for (const container of CONTAINERS.flatMap((list) => objects(spec, list)))
    if (text(container, 'imagePullPolicy') === '')
      container['imagePullPolicy'] = defaultPullPolicy(text(container, 'image'));
  for (const volume of objects(spec, 'volumes')) defaultVolume(volume);
  joinServiceAccount(spec);
}

function defaultVolume(volume: JsonObject): void {
  if (!VOLUME_SOURCES.some((source) => child(volume, source))) volume['emptyDir'] = {};
  const image = child(volume, 'image');
  if (image && text(image, 'pullPolicy') === '')
    image['pullPolicy'] = defaultPullPolicy(text(image, 'reference'));
}

/** `serviceAccount` is the deprecated name of `serviceAccountName`; both are shown. */
function joinServiceAccount(spec: JsonObject): void {
  const name = text(spec, 'serviceAccountName') || text(spec, 'serviceAccount');
  if (name === '') return;
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
}

/** For Pods only; templates get these when a controller creates Pods from them. */
export function defaultPod(pod: KubeObject): void {
  const spec = child(pod, 'spec');
  defaultPodSpec(spec);
  if (spec) defaultOwnSpec(spec);
  const status = child(pod, 'status');
  if (status) joinIps(status);
}

function defaultOwnSpec(spec: JsonObject): void {
  const containers = [...objects(spec, 'containers'), ...objects(spec, 'initContainers')];
  for (const container of containers) defaultRequests(child(container, 'resources'));
  defaultPodResources(spec);
  defaultTo(spec, 'enableServiceLinks', true);
  const grace = number(spec, 'terminationGracePeriodSeconds') ?? 0;
  if (grace < 0) spec['terminationGracePeriodSeconds'] = 1;
  if (flag(spec, 'hostNetwork') !== true) return;
  for (const port of containers.flatMap((c) => objects(c, 'ports')))
    if ((number(port, 'hostPort') ?? 0) === 0) assign(port, 'hostPort', number(port, 'containerPort'));
}

/** Requests default to limits. */
function defaultRequests(resources: JsonObject | undefined): void {
  const limits = child(resources, 'limits');
  if (resources && limits) resources['requests'] = withMissing(child(resources, 'requests'), limits);
}

/** podIP is the first of podIPs. */
function joinIps(status: JsonObject): void {
  const single = text(status, 'podIP');
  const all = list(status, 'podIPs');
  const first = text(objects(status, 'podIPs')[0], 'ip');
  if (single !== '' && first !== single) status['podIPs'] = [{ ip: single }];
  else if (single === '' && all.length > 0) status['podIP'] = first;
}

const GUARANTEED = ['cpu', 'memory'];

/** BestEffort: no requests and limits. Guaranteed: requests equal limits. Burstable: all others. */
export function qosClass(spec: JsonObject): string {
  const own = child(spec, 'resources');
  const parts = own
    ? [own]
    : [...objects(spec, 'containers'), ...objects(spec, 'initContainers')].map((c) => part(c, 'resources'));
  const positive = (resources: JsonObject, list: string, name: string) => {
    const given = part(resources, list)[name];
    return given !== undefined && compareQuantities(given, '0') > 0 ? given : undefined;
  };
  const asks = parts.some((r) =>
    GUARANTEED.some((name) => positive(r, 'requests', name) ?? positive(r, 'limits', name)),
  );
  if (!asks) return 'BestEffort';
  const exact = parts.every((r) =>
    GUARANTEED.every((name) => {
      const [limit, request] = [positive(r, 'limits', name), positive(r, 'requests', name)];
      return limit !== undefined && request !== undefined && compareQuantities(limit, request) === 0;
    }),
  );
  return exact ? 'Guaranteed' : 'Burstable';
}
