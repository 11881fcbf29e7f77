// Converts HorizontalPodAutoscalers between autoscaling/v2 (the stored form) and v1, which has one CPU target. What v1
// cannot express is in annotations of the v1 form.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Codec, specOf, statusOf } from '../../resources/resource.ts';
import { assign, child, copyField, number, objects, part, text } from '../values.ts';
import { behaviorFromGo, behaviorToGo } from './goBehavior.ts';
import { metricFromV1, metricToV1, statusFromV1, statusToV1 } from './metricForms.ts';

const PREFIX = 'autoscaling.alpha.kubernetes.io';
const METRICS = `${PREFIX}/metrics`;
const STATUSES = `${PREFIX}/current-metrics`;
const CONDITIONS = `${PREFIX}/conditions`;
const BEHAVIOR = `${PREFIX}/behavior`;
const ROUND_TRIP = [METRICS, STATUSES, CONDITIONS, BEHAVIOR];
const DEFAULT_CPU = 80;

const cpuMetric = (averageUtilization: number): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

const cpuTarget = (metric: JsonObject): number | undefined => {
  const resource = child(metric, 'resource');
  if (text(metric, 'type') !== 'Resource' || text(resource, 'name') !== 'cpu') return undefined;
  return number(part(resource, 'target'), 'averageUtilization');
};

function withoutRoundTrip({ metadata }: KubeObject): KubeObject['metadata'] {
  const { annotations, ...rest } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => !ROUND_TRIP.includes(key));
  return kept.length > 0 ? { ...rest, annotations: Object.fromEntries(kept) } : rest;
}

/** The metrics of v2 when a client sends none. */
export const defaultMetrics = (): JsonObject[] => [cpuMetric(DEFAULT_CPU)];

/** v2 has no such annotations, not even when a client sends them. */
export function dropRoundTrip(hpa: KubeObject): void {
  hpa.metadata = withoutRoundTrip(hpa);
}

export function toV1(hpa: KubeObject): KubeObject {
  const [from, current] = [specOf(hpa), statusOf(hpa)];
  const spec: JsonObject = {};
  for (const field of ['scaleTargetRef', 'minReplicas', 'maxReplicas']) copyField(spec, from, field);
  const metrics = objects(from, 'metrics');
  const cpu = metrics.map(cpuTarget).find((target) => target !== undefined);
  assign(spec, 'targetCPUUtilizationPercentage', cpu);
  const status: JsonObject = {};
  for (const field of ['observedGeneration', 'lastScaleTime', 'currentReplicas', 'desiredReplicas'])
    copyField(status, current, field);
  status['currentReplicas'] ??= 0;
  assign(status, 'currentCPUUtilizationPercentage', currentCpu(objects(current, 'currentMetrics')));
  const metadata = withoutRoundTrip(hpa);
  const added = annotationsOf(
    hpa,
    metrics.filter((metric) => cpuTarget(metric) === undefined),
  );
  if (Object.keys(added).length > 0) metadata.annotations = { ...metadata.annotations, ...added };
  return { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1', metadata, spec, status };
}

const currentCpu = (metrics: JsonObject[]): number | undefined => {
  const shown = metrics.filter(
    (m) => text(m, 'type') === 'Resource' && text(part(m, 'resource'), 'name') === 'cpu',
  );
  return shown
    .map((m) => number(part(part(m, 'resource'), 'current'), 'averageUtilization'))
    .findLast((n) => n !== undefined);
};

function annotationsOf(hpa: KubeObject, otherMetrics: JsonObject[]): Record<string, string> {
  const [spec, status] = [specOf(hpa), statusOf(hpa)];
  const behavior = child(spec, 'behavior');
  const [current, conditions] = [objects(status, 'currentMetrics'), objects(status, 'conditions')];
  return {
    ...(otherMetrics.length > 0 ? { [METRICS]: JSON.stringify(otherMetrics.map(metricToV1)) } : {}),
    ...(current.length > 0 ? { [STATUSES]: JSON.stringify(current.map(statusToV1)) } : {}),
    ...(behavior ? { [BEHAVIOR]: JSON.stringify(behaviorToGo(behavior)) } : {}),
    ...(conditions.length > 0 ? { [CONDITIONS]: JSON.stringify(conditions) } : {}),
  };
}

export function toV2(hpa: KubeObject): KubeObject {
  const [from, current] = [specOf(hpa), statusOf(hpa)];
  const annotations = hpa.metadata.annotations ?? {};
  const spec: JsonObject = {};
  for (const field of ['scaleTargetRef', 'minReplicas', 'maxReplicas']) copyField(spec, from, field);
  const cpu = number(from, 'targetCPUUtilizationPercentage');
  const own = cpu === undefined ? [] : [cpuMetric(cpu)];
  const metrics = [...(listIn(annotations[METRICS])?.map(metricFromV1) ?? []), ...own];
  spec['metrics'] = metrics.length > 0 ? metrics : defaultMetrics();
  const behavior = behaviorFromGo(parsed(annotations[BEHAVIOR]));
  assign(spec, 'behavior', behavior);
  return {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: withoutRoundTrip(hpa),
    spec,
    status: statusInV2(current, annotations),
  };
}

function statusInV2(current: JsonObject, annotations: Readonly<Record<string, string>>): JsonObject {
  const status: JsonObject = {};
  for (const field of ['observedGeneration', 'lastScaleTime', 'currentReplicas', 'desiredReplicas'])
    copyField(status, current, field);
  // Omitted in v2 when it is zero.
  if (number(status, 'currentReplicas') === 0) delete status['currentReplicas'];
  const cpu = number(current, 'currentCPUUtilizationPercentage');
  const own: JsonObject[] =
    cpu === undefined
      ? []
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu } } }];
  const metrics = listIn(annotations[STATUSES])?.map(statusFromV1) ?? own;
  const conditions = listIn(annotations[CONDITIONS]) ?? [];
  return {
    ...status,
    desiredReplicas: number(status, 'desiredReplicas') ?? 0,
    currentMetrics: metrics.length > 0 ? metrics : null,
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}

/** An annotation that is not JSON is ignored. */
function parsed(annotation: string | undefined): Json | undefined {
  if (annotation === undefined) return undefined;
  try {
    return JSON.parse(annotation) as Json;
  } catch {
    return undefined;
  }
}

const listIn = (annotation: string | undefined): JsonObject[] | undefined => {
  const found = parsed(annotation);
  return Array.isArray(found) ? found.filter(isObject) : undefined;
};

/** The codec of v1, based on the codec of its struct; v2 is stored. */
export function v1Codec(own: Codec): Codec {
  return { ...own, verbatim: () => false, show: (stored) => toV1(stored.object), toStorage: toV2 };
}
