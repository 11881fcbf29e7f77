// The simulated controllers are triggered by exactly the fields that they decide by.

import { minutes, plus, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { Job, Namespace, Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { Facts } from '@lapse/runtime/facts';
import { FINISH } from '@lapse/simulation/controllers/finish';
import { computeJobStep } from '@lapse/simulation/controllers/jobFinisher/compute';
import { jobFinisher } from '@lapse/simulation/controllers/jobFinisher/controller';
import { computeNamespaceStep } from '@lapse/simulation/controllers/namespaceGc/compute';
import { namespaceGc } from '@lapse/simulation/controllers/namespaceGc/controller';
import { computeNodeStep, HEARTBEAT } from '@lapse/simulation/controllers/nodeHeartbeat/compute';
import { nodeHeartbeat } from '@lapse/simulation/controllers/nodeHeartbeat/controller';
import { computePodStep } from '@lapse/simulation/controllers/podFinisher/compute';
import { podFinisher } from '@lapse/simulation/controllers/podFinisher/controller';
import { test } from 'vitest';
import { expectFactsCover, expectFactsDecide, type FactsCase } from './facts.ts';
import { at, finishedJob, job } from './kit.ts';

const now = plus(VIRTUAL_START, minutes(10));
const START = '2030-01-01T00:00:00Z';
const kinds = <T extends { metadata: object }>(object: T): T[] => [
  object,
  { ...object, metadata: { ...object.metadata, deletionTimestamp: START } },
];
const both = <T extends Job | Pod | Node | Namespace>(given: FactsCase<T>): void => {
  expectFactsCover(given);
  expectFactsDecide(given);
};
const COPIED = 'only copied into what is written, never decided on';
const annotations = { [FINISH]: 'succeeded after 1m' };

test('jobs', () => {
  const waiting = job('b', { annotations });
  const decided = finishedJob('c', { annotations });
  both<Job>({
    facts: jobFinisher().facts as Facts<Job>,
    compute: (object) => computeJobStep(object, now).kind,
    objects: [
      job('a'),
      waiting,
      { ...waiting, spec: { ...waiting.spec, suspend: true } },
      { ...waiting, status: { startTime: START } },
      { ...decided, status: { ...decided.status, conditions: decided.status!.conditions!.slice(0, 1) } },
      decided,
      job('d', { annotations: { [FINISH]: 'some day' } }),
    ].flatMap(kinds),
    except: Object.fromEntries(
      [
        'spec.completions',
        'spec.parallelism',
        'spec.completionMode',
        'spec.backoffLimit',
        'status.succeeded',
        'status.failed',
      ].map((path) => [path, COPIED]),
    ),
  });
});

test('pods', () => {
  const pod = (status: Pod['status'], more: object = { annotations }): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', ...more },
    spec: { containers: [{ name: 'c' }] },
    ...(status === undefined ? {} : { status }),
  });
  both<Pod>({
    facts: podFinisher().facts as Facts<Pod>,
    compute: (object) => computePodStep(object, now).kind,
    objects: [
      pod(undefined, {}),
      pod(undefined),
      pod({ phase: 'Running', startTime: START }),
      pod({ phase: 'Failed' }),
    ].flatMap(kinds),
    except: Object.fromEntries(
      ['spec.containers', 'spec.containers[].name', 'spec.containers[].image', 'status.conditions'].map(
        (path) => [path, COPIED],
      ),
    ),
  });
});

test('nodes', () => {
  const node = (label: string | undefined, heartbeat?: string): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n',
      creationTimestamp: START,
      ...(label === undefined ? {} : { labels: { [HEARTBEAT]: label } }),
    },
    ...(heartbeat === undefined
      ? {}
      : { status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat }] } }),
  });
  both<Node>({
    facts: nodeHeartbeat().facts as Facts<Node>,
    compute: (object) => computeNodeStep(object, at(seconds(30))),
    objects: [node(undefined), node(''), node('', START), node('stop-after-5m', START)].flatMap(kinds),
    except: { 'metadata.creationTimestamp': 'never changes' },
  });
});

test('namespaces', () => {
  const namespace = (finalizers: string[]): Namespace => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n' },
    spec: { finalizers },
  });
  both<Namespace>({
    facts: namespaceGc().facts as Facts<Namespace>,
    compute: (object) => computeNamespaceStep(object, now),
    objects: [namespace(['kubernetes']), namespace([])].flatMap(kinds),
  });
});
