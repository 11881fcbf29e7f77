// Removes what a cluster assigns to objects of single kinds: addresses, ports, nodes, volumes, generated selectors. Each
// rule edits a copy in place. Kinds are matched by group and kind, so kinds of the same name in other groups are kept.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { JOB_LABELS, POD_LABELS } from './serverSet.ts';

type Rule = (object: JsonObject) => void;

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const fieldOf = (object: JsonObject | undefined, name: string): JsonObject | undefined => {
  const value = object?.[name];
  return isObject(value) ? value : undefined;
};

const drop = (object: JsonObject | undefined, ...names: readonly string[]): void => {
  if (object !== undefined) for (const name of names) delete object[name];
};

/** Removes a map that has become empty. */
function dropEmpty(object: JsonObject | undefined, name: string): void {
  const value = object?.[name];
  const isEmpty = Array.isArray(value)
    ? value.length === 0
    : isObject(value) && Object.keys(value).length === 0;
  if (isEmpty) drop(object, name);
}

function dropLabels(metadata: JsonObject | undefined, labels: readonly string[]): void {
  drop(fieldOf(metadata, 'labels'), ...labels);
  dropEmpty(metadata, 'labels');
}

/** Removes `creationTimestamp: null` of a template, which Go writes. */
function cleanTemplate(template: JsonObject | undefined): void {
  drop(fieldOf(template, 'metadata'), 'creationTimestamp');
  dropEmpty(template, 'metadata');
}

const workload: Rule = (object) => cleanTemplate(fieldOf(fieldOf(object, 'spec'), 'template'));

function service(object: JsonObject): void {
  const spec = fieldOf(object, 'spec');
  if (spec === undefined) return;
  // A headless Service has clusterIP None by choice; other addresses were assigned.
  if (spec.clusterIP !== 'None') drop(spec, 'clusterIP', 'clusterIPs');
  drop(spec, 'healthCheckNodePort', 'ipFamilies');
  if (spec.ipFamilyPolicy === 'SingleStack') drop(spec, 'ipFamilyPolicy');
  for (const port of objects(spec.ports)) drop(port, 'nodePort');
}

const claim: Rule = (object) => drop(fieldOf(object, 'spec'), 'volumeName');

/** Admission mounts it into every Pod, each time under a new name. */
const isTokenVolume = (name: Json | undefined): boolean =>
  typeof name === 'string' && /^kube-api-access-[a-z0-9]{5}$/.test(name);

function withoutTokens(object: JsonObject, list: 'volumes' | 'volumeMounts'): void {
  const value = object[list];
  if (!Array.isArray(value)) return;
  object[list] = value.filter((item) => !(isObject(item) && isTokenVolume(item.name)));
  dropEmpty(object, list);
}

function pod(object: JsonObject): void {
  dropLabels(fieldOf(object, 'metadata'), POD_LABELS);
  const spec = fieldOf(object, 'spec');
  if (spec === undefined) return;
  // Admission computes priority, preemption and overhead, and refuses any other value.
  drop(spec, 'nodeName', 'serviceAccount', 'priority', 'preemptionPolicy', 'ephemeralContainers');
  if (spec.runtimeClassName !== undefined) drop(spec, 'overhead');
  withoutTokens(spec, 'volumes');
  for (const list of ['initContainers', 'containers'])
    for (const container of objects(spec[list])) withoutTokens(container, 'volumeMounts');
}

function job(object: JsonObject): void {
  workload(object);
  const spec = fieldOf(object, 'spec');
  // A manual selector belongs to the user, and so do the labels that it selects.
  if (spec === undefined || spec.manualSelector === true) return;
  dropLabels(fieldOf(object, 'metadata'), JOB_LABELS);
  drop(spec, 'selector', 'manualSelector');
  const template = fieldOf(spec, 'template');
  dropLabels(fieldOf(template, 'metadata'), JOB_LABELS);
  dropEmpty(template, 'metadata');
}

function cronJob(object: JsonObject): void {
  const template = fieldOf(fieldOf(object, 'spec'), 'jobTemplate');
  cleanTemplate(template);
  workload(template ?? {});
}

function statefulSet(object: JsonObject): void {
  workload(object);
  for (const template of objects(fieldOf(object, 'spec')?.volumeClaimTemplates)) {
    drop(template, 'status');
    cleanTemplate(template);
  }
}

/** Names of tokens that were generated for the service account: `default-token-x7k2p`, `builder-dockercfg-5hq8z`. */
function serviceAccount(object: JsonObject): void {
  const name = fieldOf(object, 'metadata')?.name;
  if (typeof name !== 'string') return;
  for (const field of ['secrets', 'imagePullSecrets']) {
    const list = object[field];
    if (!Array.isArray(list)) continue;
    object[field] = list.filter((item) => !(isObject(item) && isGenerated(name, item.name)));
    dropEmpty(object, field);
  }
}

function isGenerated(account: string, secret: Json | undefined): boolean {
  if (typeof secret !== 'string' || !secret.startsWith(`${account}-`)) return false;
  return /^(token|dockercfg)-[a-z0-9]{5}$/.test(secret.slice(account.length + 1));
}

function namespace(object: JsonObject): void {
  drop(object, 'spec');
  dropLabels(fieldOf(object, 'metadata'), ['kubernetes.io/metadata.name']);
}

/** Rules by group and kind. */
export const KIND_RULES: Readonly<Record<string, Rule>> = {
  '/Namespace': namespace,
  '/Service': service,
  '/PersistentVolumeClaim': claim,
  '/Pod': pod,
  '/ServiceAccount': serviceAccount,
  '/ReplicationController': workload,
  'apps/Deployment': workload,
  'apps/ReplicaSet': workload,
  'apps/DaemonSet': workload,
  'apps/StatefulSet': statefulSet,
  'batch/Job': job,
  'batch/CronJob': cronJob,
};
