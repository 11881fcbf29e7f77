// A real API server with the chart installed: Helm, the objects of a release, and the process of the Deployment,
// started beside the cluster with the service account and the configuration of the chart (there are no nodes).

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '@lapse/kube/api/object';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { LapseProcess } from '../../cmd/lapseProcess.ts';
import type { Bed } from '../bed/bed.ts';
import { freePorts } from '../bed/ports.ts';

export const CHART = join(import.meta.dirname, '../../../config/chart');
export const NAMESPACE = 'lapse-system';

export interface Objects {
  apply(...objects: object[]): Promise<void>;
  get(kind: string, name: string, namespace?: string): Promise<KubeObject | undefined>;
  /** Names of all objects of these kinds in a release. */
  ofRelease(...kinds: string[]): Promise<string[]>;
}

export function objectsOf(bed: Bed): Objects {
  const apply = async (...objects: object[]) => {
    const file = join(bed.directory, `apply-${process.hrtime.bigint()}.yaml`);
    writeFileSync(file, objects.map((object) => stringify(object)).join('---\n'));
    await bed.kubectl('apply', '--server-side', '--force-conflicts', '-f', file);
  };
  return {
    apply,
    async get(kind, name, namespace) {
      const where = namespace === undefined ? [] : ['-n', namespace];
      const text = await bed.kubectl('get', kind, name, ...where, '--ignore-not-found', '-o', 'json');
      return text === '' ? undefined : (JSON.parse(text) as KubeObject);
    },
    async ofRelease(...kinds) {
      const selector = 'app.kubernetes.io/managed-by=Helm,app.kubernetes.io/name=lapse';
      const text = await bed.kubectl('get', kinds.join(), '-A', '-l', selector, '-o', 'name');
      return text.split('\n').filter(Boolean).sort();
    },
  };
}

/** A finalised object of a Helm template. */
export const documentsOf = (text: string): KubeObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);

export interface Outside {
  readonly lapse: LapseProcess;
  /**
   * Makes the webhooks reachable for the API server, as a Service would in a cluster with nodes. The returned function
   * restores the configuration of the chart.
   */
  reachWebhooks(): Promise<() => Promise<void>>;
}

/** The process of the Deployment, beside the cluster. */
export async function runOutside(bed: Bed, flags: readonly string[] = []): Promise<Outside> {
  const objects = objectsOf(bed);
  const directory = join(bed.directory, `outside-${process.hrtime.bigint()}`);
  mkdirSync(directory);
  const token = (await bed.kubectl('create', 'token', 'lapse', '-n', NAMESPACE)).trim();
  const ca = readFileSync(bed.caFile, 'utf8');
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    renderKubeconfig({ name: 'lapse', server: bed.url, ca, token, namespace: NAMESPACE }),
  );
  const map = (await objects.get('configmap', 'lapse', NAMESPACE)) as { data?: Record<string, string> };
  const [port] = (await freePorts(1)) as [number];
  const configuration = parse(map.data!['lapse.yaml']!);
  // The only differences from the Pod: addresses of this machine instead of the cluster's.
  configuration.metrics = { bindAddress: '127.0.0.1:0' };
  if (configuration.webhook !== undefined)
    configuration.webhook = {
      ...configuration.webhook,
      bindAddress: `127.0.0.1:${port}`,
      hosts: [...configuration.webhook.hosts, '127.0.0.1'],
    };
  const file = join(directory, 'lapse.yaml');
  writeFileSync(file, stringify(configuration));
  const lapse = new LapseProcess(['run', '--config', file, '--kubeconfig', kubeconfig, ...flags], {
    POD_NAMESPACE: NAMESPACE,
    REQUEST_TTL: '1s',
  });
  return { lapse, reachWebhooks: () => reachWebhooks(bed, objects, port) };
}

interface Configuration extends KubeObject {
  webhooks: { name: string; clientConfig: { service?: { path: string }; url?: string } }[];
}

async function reachWebhooks(bed: Bed, objects: Objects, port: number): Promise<() => Promise<void>> {
  const patched = async (kind: string, from: string, to: string, values: readonly unknown[]) => {
    const patches = values.flatMap((value, at) => [
      { op: 'remove', path: `/webhooks/${at}/clientConfig/${from}` },
      { op: 'add', path: `/webhooks/${at}/clientConfig/${to}`, value },
    ]);
    await bed.kubectl('patch', kind, 'lapse', '--type=json', '-p', JSON.stringify(patches));
  };
  const undo: (() => Promise<void>)[] = [];
  for (const kind of ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration']) {
    const found = (await objects.get(kind, 'lapse')) as Configuration | undefined;
    if (found === undefined) continue;
    const services = found.webhooks.map(({ clientConfig }) => clientConfig.service!);
    const urls = services.map(({ path }) => `https://127.0.0.1:${port}${path}`);
    await patched(kind, 'service', 'url', urls);
    undo.push(() => patched(kind, 'url', 'service', services));
  }
  return async () => {
    for (const step of undo) await step();
  };
}

/** A finished Job with a TTL of one second. */
export async function finishedJob(bed: Bed, name: string): Promise<void> {
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: {
      ttlSecondsAfterFinished: 1,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'none' }] } },
    },
  };
  await objectsOf(bed).apply(job);
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastTransitionTime: now,
    lastProbeTime: now,
  });
  const status = {
    startTime: now,
    completionTime: now,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    succeeded: 1,
    terminating: 0,
    ready: 0,
    uncountedTerminatedPods: {},
  };
  await bed.kubectl(
    'patch',
    'job',
    name,
    '-n',
    'default',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  );
}
