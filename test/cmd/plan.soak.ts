// `lapse plan` as users run it: formats, exit codes, usage errors, and a server that refuses some reads.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LapseProcess } from './lapseProcess.ts';

const directory = mkdtempSync(join(tmpdir(), 'lapse-plan-cmd-'));
const jobs = join(directory, 'jobs.yaml');
const soon = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000).toISOString().replace('.000', '');

beforeAll(() => {
  writeFileSync(
    jobs,
    `apiVersion: batch/v1
kind: List
items:
  - apiVersion: batch/v1
    kind: Job
    metadata: { name: report, namespace: ci }
    spec: { ttlSecondsAfterFinished: 3600 }
    status: { conditions: [{ type: Complete, status: "True", lastTransitionTime: "${soon}" }] }
`,
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

async function plan(...args: string[]): Promise<{ code: number | null; out: string }> {
  const lapse = new LapseProcess(['plan', ...args]);
  const code = await lapse.exited;
  return { code, out: lapse.out };
}

describe('formats', () => {
  test.each([
    ['text', /job\/report -n ci/],
    ['wide', /1 deletion until/],
    ['json', /"name": "report"/],
    ['yaml', /^made: /],
    ['html', /^<!doctype html>/],
    ['svg', /^<svg /],
  ])('%s', async (format, pattern) => {
    const { code, out } = await plan(jobs, '-o', format);
    expect(code, out).toBe(0);
    expect(out).toMatch(pattern);
  });

  test('JSON output can be parsed and contains times', async () => {
    const { deletions, made } = JSON.parse((await plan(jobs, '-o', 'json')).out) as {
      made: string;
      deletions: { at: string }[];
    };
    expect(deletions.map(({ at }) => Date.parse(at))).toEqual([Date.parse(soon) + 3_600_000]);
    expect(Math.abs(Date.parse(made) - Date.now())).toBeLessThan(600_000);
  });

  test('reads manifests from the standard input', async () => {
    const lapse = join(import.meta.dirname, '../../bin/lapse');
    const child = execFile(lapse, ['plan', '-', '-o', 'wide']);
    child.stdin!.end(readFileSync(jobs));
    expect(await text(child.stdout!)).toMatch(/job\/report -n ci[\s\S]*1 deletion until/);
  });

  test('a shorter horizon leaves the deletion out, and counts it', async () => {
    expect((await plan(jobs, '--for', '10m')).out).toMatch(/0 deletions until .*, 1 later\./);
  });
});

describe('usage errors', () => {
  test.each([
    [['--for', 'soon', jobs], /--for soon/],
    [['-o', 'pdf', jobs], /pdf/],
    [['--controllers=-ttl-policy', jobs], /selects no controller/],
    [['no-such-file.yaml'], /no-such-file.yaml/],
    [['--kubeconfig', 'no-such-config'], /no-such-config/],
  ])('%j', async (args, pattern) => {
    const { code, out } = await plan(...args);
    expect(out).toMatch(pattern);
    expect(code).not.toBe(0);
    expect(out).not.toMatch(/\n\s+at /);
  });

  test('an undefined kind is named, and the plan is marked as incomplete', async () => {
    const widget = join(directory, 'widget.yaml');
    writeFileSync(widget, 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w }\n');
    const { code, out } = await plan(jobs, widget);
    expect(out).toMatch(
      /could not be read: example.com\/v1 Widget: the files contain no CustomResourceDefinition/,
    );
    expect(code).toBe(3);
  });
});

test('refused reads are reported, and only reads were tried', async () => {
  const methods = new Set<string>();
  const server = createServer((request, response) => {
    methods.add(request.method!);
    const isDiscovery = /^\/apis?(\?|$)/.test(request.url!);
    const body = isDiscovery ? discovery(request.url!) : refusal;
    response.writeHead(isDiscovery ? 200 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, kubeconfigFor(`http://127.0.0.1:${port}`));
    const { code, out } = await plan('--kubeconfig', kubeconfig);
    expect(out).toMatch(/could not be read: ttl-after-finished: batch\/v1\/jobs.*forbidden/);
    expect(code).toBe(3);
    expect([...methods]).toEqual(['GET']);
  } finally {
    server.close();
  }
});

/** A server with the given answers, for as long as `use` runs. */
async function withServer(
  answer: RequestListener,
  use: (kubeconfig: string) => Promise<void>,
): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, kubeconfigFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    await use(kubeconfig);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a namespace that does not exist is reported', () =>
  withServer(
    ({ url = '' }, response) => {
      const isDiscovery = /^\/apis?(\?|$)/.test(url);
      const isList = url.includes('/jobs');
      response.writeHead(isDiscovery || isList ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isDiscovery ? discovery(url) : isList ? NO_JOBS : missing));
    },
    async (kubeconfig) => {
      const { code, out } = await plan('--kubeconfig', kubeconfig, '-n', 'nope');
      expect(out).toMatch(/, namespace nope \(which does not exist\): 0 deletions/);
      expect(code).toBe(0);
    },
  ));

test('a server that does not answer is reported while waiting, and the wait is limited', () =>
  withServer(
    () => {},
    async (kubeconfig) => {
      const lapse = new LapseProcess(['plan', '--kubeconfig', kubeconfig]);
      await lapse.says(/^lapse: waiting for a response of http:\/\/127\.0\.0\.1:\d+\n/);
      expect(await lapse.exited).toBe(1);
      expect(lapse.out).toMatch(
        /\nlapse: no response to GET \S+ within 10 s; check that the API server is running/,
      );
    },
  ));

test('a full disk is reported', async () => {
  const lapse = join(import.meta.dirname, '../../bin/lapse');
  const { code, err } = await new Promise<{ code: unknown; err: string }>((resolve) => {
    execFile('sh', ['-c', `"${lapse}" plan "${jobs}" > /dev/full`], (cause, _, err) =>
      resolve({ code: cause?.code, err }),
    );
  });
  expect({ code, err }).toEqual({
    code: 1,
    err: 'lapse: cannot write the output: no space left on device\n',
  });
});

const NO_JOBS = { kind: 'JobList', apiVersion: 'batch/v1', metadata: { resourceVersion: '1' }, items: [] };
const missing = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'NotFound',
  message: 'namespaces "nope" not found',
  details: { name: 'nope', kind: 'namespaces' },
  code: 404,
};

const refusal = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'Forbidden',
  message: 'jobs is forbidden',
  code: 403,
};

const discovery = (url: string) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: url.startsWith('/apis')
    ? [
        {
          metadata: { name: 'batch' },
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'jobs',
                  responseKind: { group: 'batch', version: 'v1', kind: 'Job' },
                  scope: 'Namespaced',
                  singularResource: 'job',
                  verbs: ['delete', 'list', 'watch', 'get'],
                },
              ],
            },
          ],
        },
      ]
    : [],
});

const kubeconfigFor = (server: string) => `apiVersion: v1
kind: Config
current-context: c
clusters: [{ name: c, cluster: { server: "${server}" } }]
users: [{ name: u, user: {} }]
contexts: [{ name: c, context: { cluster: c, user: u } }]
`;
