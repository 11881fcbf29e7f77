// Requests from steps: one function per verb.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { Picker } from '../apply/histories.ts';
import {
  demand,
  demanding,
  edited,
  fresh,
  jsonPatch,
  mergePatch,
  nameOf,
  replacement,
  strategicPatch,
  uidFor,
  versionFor,
  withStatus,
} from './bodies.ts';
import { oddRequest } from './oddRequests.ts';
import { accept, listQuery } from './reads.ts';
import type { Draft, Memory, Step, Subject, Verb } from './types.ts';

const JSON_TYPE = 'application/json';
const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

interface Task {
  readonly subject: Subject;
  readonly step: Step;
  readonly pick: Picker;
  readonly memory: Memory;
}

/** Deterministic for a step and memory. */
export function draftOf(subject: Subject, step: Step, memory: Memory): Draft {
  return DRAFTS[step.verb]({ subject, step, pick: new Picker(step.salt), memory });
}

/** The beginning of every sequence: a valid object named a. */
export const firstDraft = (subject: Subject): Draft =>
  subject.existing === undefined
    ? sent('POST', subject.collection, fresh(subject, 'a'), JSON_TYPE)
    : { method: 'GET', path: itemOf(subject, 'a'), headers: {} };

const DRAFTS: Readonly<Record<Verb, (task: Task) => Draft>> = {
  create: (task) => write(task, 'POST', '', created(task), JSON_TYPE),
  get: ({ subject, step, pick, memory }) => ({
    method: 'GET',
    path: itemOf(subject, step.name) + (pick.chance(0.1) ? notOlder(step.name, memory) : ''),
    headers: accept(pick),
  }),
  list: ({ subject, pick, memory }) => ({
    method: 'GET',
    path: `${subject.collection}?${listQuery(subject, pick, memory)}`,
    headers: accept(pick),
  }),
  update: (task) => {
    const { subject, step, pick, memory } = task;
    return onItem(
      task,
      'PUT',
      edited(subject, replacement(subject, step, pick, memory), step.edits),
      JSON_TYPE,
    );
  },
  jsonPatch: (task) => onItem(task, 'PATCH', jsonPatch(editedFresh(task), task.pick), JSON_PATCH),
  mergePatch: (task) =>
    onItem(task, 'PATCH', demandingPatch(mergePatch(editedFresh(task), task.pick), task), MERGE),
  // In schemas the real server names other places in its warnings.
  strategicPatch: (task) =>
    task.subject.existing === undefined
      ? onItem(task, 'PATCH', strategicPatch(editedFresh(task), task.pick), STRATEGIC)
      : DRAFTS.mergePatch(task),
  apply: (task) => onItem(task, 'PATCH', editedFresh(task), APPLY),
  status: onStatus,
  scale: onScale,
  delete: deletion,
  deleteCollection: ({ subject, pick }) => ({
    method: 'DELETE',
    path: `${subject.collection}?labelSelector=${pick.one(['run={ns}', 'run={ns},tier=gold', 'run={ns},tier'])}${rare(pick, '&dryRun=All', subject.onlyDry ? 1 : 0.2)}`,
    headers: {},
  }),
  odd: ({ subject, step, pick }) => oddRequest(subject, itemOf(subject, step.name), pick),
};

const itemOf = (subject: Subject, name: string): string => `${subject.collection}/${nameOf(subject, name)}`;
/** Of cached objects: at version 0 the real server may answer with an older state. */
function notOlder(name: string, memory: Memory): string {
  const version = versionFor('right', name, memory);
  return memory.versions.has(name) ? `?resourceVersion=${version}` : '';
}

const rare = (pick: Picker, text: string, share: number): string => (pick.chance(share) ? text : '');

const editedFresh = ({ subject, step }: Task): JsonObject =>
  edited(subject, fresh(subject, step.name), step.edits);

const SIMPLE = 0;

function created({ subject, step, pick }: Task): JsonObject {
  const object = edited(subject, fresh(subject, step.name), step.edits);
  if (step.salt === SIMPLE) return object;
  const metadata = object['metadata'] as JsonObject;
  const roll = pick.int(40);
  if (roll === 0) delete metadata['name'];
  if (roll === 1) return { ...object, metadata: { ...metadata, name: '', generateName: 'gen-' } };
  if (roll === 2) return { ...object, metadata: { ...metadata, generateName: pick.one(['gen-', 'Bad_']) } };
  if (roll === 3) return { ...object, metadata: { ...metadata, resourceVersion: pick.one(['1', 'x']) } };
  if (roll === 4) return { ...object, [pick.one(['apiVersion', 'kind'])]: pick.one(['v9', 'Odd', 'a/b/c']) };
  if (roll === 5) delete object[pick.one(['apiVersion', 'kind', 'metadata'])];
  return object;
}

/** Merge patches may demand a version, too. */
function demandingPatch(patch: JsonObject, { step, pick, memory }: Task): JsonObject {
  if (step.salt === SIMPLE || pick.chance(0.75)) return patch;
  return demanding(patch, step.name, pick, memory);
}

function onStatus(task: Task): Draft {
  const { subject, step, pick, memory } = task;
  const mode = pick.one(['PUT', 'merge', 'merge', 'apply', 'get', 'json']);
  if (mode === 'get')
    return { method: 'GET', path: `${itemOf(subject, step.name)}/status`, headers: accept(pick) };
  if (mode === 'PUT') {
    const object = withStatus(subject, replacement(subject, step, pick, memory), step.edits);
    return write(task, 'PUT', `/${nameOf(subject, step.name)}/status`, object, JSON_TYPE);
  }
  const object = withStatus(subject, fresh(subject, step.name), step.edits);
  const target = `/${nameOf(subject, step.name)}/status`;
  if (mode === 'apply') return write(task, 'PATCH', target, object, APPLY);
  if (mode === 'json')
    return write(task, 'PATCH', target, jsonPatch({ status: object['status'] ?? {} }, pick), JSON_PATCH);
  const { apiVersion: _, kind: __, metadata: ___, ...rest } = object;
  return write(task, 'PATCH', target, pick.chance(0.2) ? rest : { status: rest['status'] ?? {} }, MERGE);
}

function onScale(task: Task): Draft {
  const { subject, step, pick } = task;
  const target = `/${nameOf(subject, step.name)}/scale`;
  if (pick.chance(0.3)) return { method: 'GET', path: subject.collection + target, headers: {} };
  const replicas = pick.one<Json>([0, 1, 3, -1, 1000, 'x', null]);
  if (replicas !== 'x' && pick.chance(0.4))
    return write(task, 'PATCH', target, { spec: { replicas } }, MERGE);
  const metadata = { name: nameOf(subject, step.name), ...(subject.cluster ? {} : { namespace: '{ns}' }) };
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas } };
  return write(task, 'PUT', target, scale, JSON_TYPE);
}

function deletion({ subject, step, pick, memory }: Task): Draft {
  const { name } = step;
  const path = itemOf(subject, name);
  const dry = subject.onlyDry ? '?dryRun=All' : '';
  if (step.salt === SIMPLE) return { method: 'DELETE', path: path + dry, headers: {} };
  if (pick.chance(0.2)) {
    const query = pick.one([
      'propagationPolicy=Orphan',
      'propagationPolicy=Odd',
      'gracePeriodSeconds=0',
      'dryRun=All',
      'gracePeriodSeconds=x',
      'orphanDependents=true',
    ]);
    return { method: 'DELETE', path: `${path}?${subject.onlyDry ? 'dryRun=All&' : ''}${query}`, headers: {} };
  }
  const options = pick.maybe(
    {
      propagationPolicy: () => pick.one(['Background', 'Foreground', 'Orphan', 'Odd']),
      gracePeriodSeconds: () => pick.one<Json>([0, 1, 30, -1, 'x']),
      preconditions: () => preconditions(name, pick, memory),
    },
    0.4,
  );
  if (pick.chance(0.05)) options['orphanDependents'] = pick.chance(0.5);
  if (pick.chance(0.03)) options['unknownOption'] = 1;
  if (subject.onlyDry || (options['propagationPolicy'] === undefined && pick.chance(0.15)))
    options['dryRun'] = ['All'];
  if (pick.chance(0.5)) Object.assign(options, { apiVersion: 'v1', kind: 'DeleteOptions' });
  return sent('DELETE', path, options, JSON_TYPE);
}

function preconditions(name: string, pick: Picker, memory: Memory): JsonObject {
  const uid = uidFor(demand(pick), name, memory);
  const resourceVersion = versionFor(demand(pick), name, memory);
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

const onItem = (task: Task, method: string, body: Json, type: string): Draft =>
  write(task, method, `/${nameOf(task.subject, task.step.name)}`, body, type);

function write(task: Task, method: string, target: string, body: Json, type: string): Draft {
  return sent(method, task.subject.collection + target + writeQuery(task, type), body, type);
}

function sent(method: string, path: string, body: Json, type: string): Draft {
  return { method, path, headers: { 'content-type': type }, body };
}

function writeQuery({ subject, step, pick }: Task, type: string): string {
  if (step.salt === SIMPLE) return simpleQuery(subject.onlyDry, type);
  const query: string[] = [];
  if (subject.onlyDry || pick.chance(0.12)) query.push('dryRun=All');
  else if (pick.chance(0.01)) query.push('dryRun=Some');
  if (type === APPLY) query.push(`fieldManager=${pick.one(['alpha', 'beta', 'gamma'])}`);
  if (type === APPLY && pick.chance(0.4)) query.push('force=true');
  if (type !== APPLY && pick.chance(0.3)) query.push(`fieldManager=${pick.one(['alpha', 'beta'])}`);
  if (pick.chance(0.01)) query.push(`fieldManager=${'m'.repeat(129)}`);
  if (type !== APPLY && pick.chance(0.01)) query.push('force=true');
  if (pick.chance(0.35))
    query.push(`fieldValidation=${pick.one(['Strict', 'Strict', 'Warn', 'Ignore', 'Ignore', 'Odd'])}`);
  return asQuery(query);
}

const simpleQuery = (onlyDry: boolean | undefined, type: string): string =>
  asQuery([...(onlyDry ? ['dryRun=All'] : []), ...(type === APPLY ? ['fieldManager=alpha'] : [])]);

const asQuery = (query: readonly string[]): string => (query.length === 0 ? '' : `?${query.join('&')}`);
