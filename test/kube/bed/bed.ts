// A real Kubernetes control plane for one test file: etcd and kube-apiserver, and kube-controller-manager with the
// controllers the test asks for. Everything listens on loopback only and lives in one temporary directory.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { apiserverArguments, controllerManagerArguments, etcdArguments, type Ports } from './arguments.ts';
import { type Binaries, ensureBinaries } from './build.ts';
import { type CertificateFiles, writeCertificates } from './certificates.ts';
import { compactEtcd, putEtcd } from './etcd.ts';
import { writeAuditPolicy, writeKubeconfig, writeTokens } from './files.ts';
import { freePorts } from './ports.ts';
import { type Supervised, supervise } from './processes.ts';
import { waitUntilReady } from './ready.ts';

export interface BedOptions {
  /** Controllers of kube-controller-manager, e.g. `garbage-collector-controller`. Empty: it is not started. */
  controllers?: string[];
  /** Write one JSON line per request (metadata level) to `auditLogFile`. */
  auditLog?: boolean;
  extraApiserverArgs?: string[];
  extraControllerManagerArgs?: string[];
}

export interface Bed {
  readonly url: string;
  readonly caFile: string;
  /** User `admin` in group `system:masters`. */
  readonly adminToken: string;
  /** User `nobody`, who may do nothing. */
  readonly nobodyToken: string;
  /** A kubeconfig file of the admin. */
  readonly kubeconfig: string;
  readonly bins: Binaries;
  readonly certificates: CertificateFiles;
  readonly directory: string;
  readonly auditLogFile: string | undefined;
  /** One GET as the admin; returns the parsed body and throws on any status except 2xx. */
  getJson(path: string, accept?: string): Promise<unknown>;
  /** Runs kubectl as the admin and returns its standard output. */
  kubectl(...args: string[]): Promise<string>;
  /** Compacts the history of etcd. */
  compact(): Promise<void>;
  /** Writes very many objects directly to etcd: `key` is `/registry/jobs/default/x`, `value` the object as JSON. */
  plant(count: number, entry: (i: number) => { key: string; value: string }): Promise<void>;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const run = promisify(execFile);

export async function startBed(options: BedOptions = {}): Promise<Bed> {
  const bins = await ensureBinaries();
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(bins, options);
    } catch (error) {
      // Another process may take a port between its choice here and the server's bind.
      const lostPort = error instanceof Error && /address already in use/.test(error.message);
      if (!lostPort || attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function startOnce(bins: Binaries, options: BedOptions): Promise<Bed> {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-bed-'));
  const started: Supervised[] = [];
  const removeAtExit = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', removeAtExit);
  const stop = async () => {
    await Promise.all(started.map((child) => child.kill()));
    removeAtExit();
    process.off('exit', removeAtExit);
  };
  try {
    return await bringUp(bins, options, { directory, started, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Stage {
  directory: string;
  started: Supervised[];
  stop: () => Promise<void>;
}

async function bringUp(bins: Binaries, options: BedOptions, stage: Stage): Promise<Bed> {
  const { directory, started, stop } = stage;
  const start = (binary: keyof Binaries, args: string[]) =>
    started.push(supervise(bins[binary], args, join(directory, `${binary}.log`)));
  const [etcdClient, etcdPeer, apiserver] = (await freePorts(3)) as [number, number, number];
  const ports: Ports = { etcdClient, etcdPeer, apiserver };
  const certificates = writeCertificates(directory);
  const tokens = writeTokens(directory);
  const url = `https://127.0.0.1:${ports.apiserver}`;
  const kubeconfig = writeKubeconfig(directory, { url, caFile: certificates.ca, token: tokens.admin });
  const audit = options.auditLog ? writeAuditPolicy(directory) : undefined;

  mkdirSync(join(directory, 'etcd'), { mode: 0o700 });
  start('etcd', etcdArguments(ports, join(directory, 'etcd')));
  start('kube-apiserver', [
    ...apiserverArguments(ports, tokens.file, certificates),
    ...(audit?.args ?? []),
    ...(options.extraApiserverArgs ?? []),
  ]);

  const agent = new Agent({ connect: { ca: readFileSync(certificates.ca) } });
  const get = async (path: string, accept = 'application/json') => {
    const headers = { authorization: `Bearer ${tokens.admin}`, accept };
    const answer = await request(url + path, { dispatcher: agent, headers });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`GET ${path}: ${answer.statusCode} ${text}`);
    return text;
  };
  await waitUntilReady(get, started);
  if (options.controllers?.length) {
    const args = controllerManagerArguments(options.controllers, kubeconfig, certificates);
    start('kube-controller-manager', [...args, ...(options.extraControllerManagerArgs ?? [])]);
  }
  return {
    url,
    caFile: certificates.ca,
    adminToken: tokens.admin,
    nobodyToken: tokens.nobody,
    kubeconfig,
    bins,
    certificates,
    directory,
    auditLogFile: audit?.file,
    getJson: async (path, accept) => JSON.parse(await get(path, accept)) as unknown,
    kubectl: async (...args) => (await run(bins.kubectl, [`--kubeconfig=${kubeconfig}`, ...args])).stdout,
    compact: () => compactEtcd(`http://127.0.0.1:${ports.etcdClient}`),
    plant: (count, entry) => putEtcd(`http://127.0.0.1:${ports.etcdClient}`, count, entry),
    async stop() {
      await agent.destroy();
      await stop();
    },
  };
}
