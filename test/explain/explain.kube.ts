// `lapse explain` as users run it, on a real API server: discovery, short names, owners, refusals. Nothing is written.

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';

const root = join(import.meta.dirname, '../..');
let bed: Bed;

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly error: string;
}

function explain(words: string, kubeconfig = bed.kubeconfig): Promise<Answer> {
  const args = ['explain', ...words.split(' '), '--kubeconfig', kubeconfig];
  return new Promise((resolve) => {
    const child = execFile(join(root, 'bin/lapse'), args, (_, text, error) =>
      resolve({ code: child.exitCode ?? -1, text, error }),
    );
  });
}

async function apply(object: object): Promise<void> {
  const file = join(bed.directory, 'object.json');
  writeFileSync(file, JSON.stringify(object));
  await bed.kubectl('apply', '-f', file);
}

const TEMPLATE = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };

beforeAll(async () => {
  bed = await startBed({ auditLog: true });
  await apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'report', namespace: 'default' },
    spec: { ttlSecondsAfterFinished: 2_000_000_000, template: TEMPLATE },
  });
  const uid = (await bed.kubectl('get', 'job', 'report', '-o', 'jsonpath={.metadata.uid}')).trim();
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'report', uid, controller: true };
  await apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'of-report', namespace: 'default', ownerReferences: [owner] },
  });
});
afterAll(() => bed?.stop());

test('a running Job', async () => {
  const { code, text } = await explain('job/report');
  expect(code).toBe(0);
  expect(text).toBe(`job/report -n default is kept
  because   unfinished
  rule      spec.ttlSecondsAfterFinished (ttl-after-finished)
  next      the TTL starts when it finishes
`);
});

test('a finished Job, and what is deleted with it', async () => {
  const at = '2026-03-01T12:00:00Z';
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: at });
  const conditions = [condition('SuccessCriteriaMet'), condition('Complete')];
  const patch = JSON.stringify({ status: { startTime: at, completionTime: at, conditions } });
  await bed.kubectl('patch', 'job', 'report', '--subresource=status', '--type=merge', '-p', patch);
  const job = await explain('jobs.batch report --cascade -n default');
  expect(job.text).toContain('job/report -n default is deleted at 2089-07-16T15:33:20Z');
  expect(job.text).toContain('configmap/of-report -n default');
  const owned = await explain('cm/of-report');
  expect(owned.text).toMatch(
    /^configmap\/of-report -n default is deleted at 2089-07-16T15:33:20Z \(in .*\) with job\/report -n default\n/,
  );
});

/** Runs the commands of an answer in a shell. */
async function follow(text: string, what: RegExp): Promise<void> {
  const command = text
    .split('\n')
    .find((line) => what.test(line))!
    .replace(what, '');
  const env = {
    ...process.env,
    KUBECONFIG: bed.kubeconfig,
    PATH: [join(root, 'bin'), dirname(bed.bins.kubectl), process.env.PATH].join(delimiter),
  };
  await promisify(execFile)('sh', ['-c', command], { env });
}

test('kubectl executes the advised commands, also if the annotation exists already', async () => {
  await bed.kubectl('annotate', 'job', 'report', 'lapse.dev/ttl=5h');
  await follow((await explain('job/report')).text, /^ {2}next +to keep it: /);
  const kept = await explain('job/report');
  expect(kept.text).toMatch(/^job\/report -n default is held\n {2}because +opted out\n/);
  await follow(kept.text, /^ {2}next +to allow the deletion: /);
  expect((await explain('job/report')).text).toMatch(/^job\/report -n default is deleted at /);
  await follow((await explain('cm/of-report')).text, /^ {2}next +to keep it, keep Job report: /);
});

test('two kinds of the same name are found by their full names', async () => {
  await apply(SERVICES);
  await bed.kubectl('wait', '--for=condition=Established', 'crd/services.serving.knative.dev');
  const knative = { apiVersion: 'serving.knative.dev/v1', kind: 'Service' };
  await apply({ ...knative, metadata: { name: 'hello', namespace: 'default' } });
  const uid = await bed.kubectl(
    'get',
    'services.serving.knative.dev',
    'hello',
    '-o',
    'jsonpath={.metadata.uid}',
  );
  const owner = { ...knative, name: 'hello', uid: uid.trim() };
  await apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'of-hello', namespace: 'default', ownerReferences: [owner] },
  });
  const { text } = await explain('cm/of-hello');
  expect(text).toContain('service.serving.knative.dev/hello -n default owns it');
  const named = await explain('service.serving.knative.dev/hello -n default');
  expect(named.text).toMatch(
    /^service\.serving\.knative\.dev\/hello -n default is kept: no rule applies to it\n/,
  );
  expect(named.text).toContain('a TTLPolicy for Service could delete it');
});

const SERVICES = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'services.serving.knative.dev' },
  spec: {
    group: 'serving.knative.dev',
    scope: 'Namespaced',
    names: { kind: 'Service', plural: 'services', singular: 'service' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

test('what cannot be explained', async () => {
  expect(await explain('dragons/x')).toMatchObject({
    code: 2,
    error: 'lapse: the cluster serves no kind "dragons"; kubectl api-resources lists them\n',
  });
  expect(await explain('job/nope')).toMatchObject({ code: 2 });
  expect((await explain('job/report -n kube-system')).error).toContain('found in default: add -n default');
  const stranger = join(bed.directory, 'nobody.kubeconfig');
  writeFileSync(stranger, readFileSync(bed.kubeconfig, 'utf8').replaceAll(bed.adminToken, bed.nobodyToken));
  const refused = await explain('job/report', stranger);
  expect(refused.code).toBe(3);
  expect(refused.error).toMatch(
    /^lapse: may not read jobs\.batch "report" in namespace default: .*forbidden/m,
  );
});

test('explain writes nothing', () => {
  const verbs = readFileSync(bed.auditLogFile!, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"userAgent":"lapse/'))
    .map((line) => (JSON.parse(line) as { verb: string }).verb);
  expect(new Set(verbs)).toEqual(new Set(['get', 'list']));
});
