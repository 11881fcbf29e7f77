// Follows the registered APIServices: their addresses, availability and served resources. Checks again when an
// APIService, a Service or its endpoints change, every 30 seconds, and sooner after a failure.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import { wakeAfter } from '@lapse/base/monotonic';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Path } from '../http/path.ts';
import type { Change } from '../store/history.ts';
import { checkAvailability, withAvailability } from './availability.ts';
import type { RemoteTransport } from './call.ts';
import { API_SERVICES, parseRegistration, type Registration } from './registration.ts';
import { documentName, fetchDocumentUrl, fetchVersion } from './remoteDiscovery.ts';

const CHECK_INTERVAL = seconds(30);
const FIRST_RETRY = millis(100);
// The resources that determine the address of a Service.
const ADDRESS_RESOURCES = new Set(['services', 'endpoints', 'endpointslices.discovery.k8s.io']);

interface Remote {
  registration: Registration;
  /** An APIVersionDiscovery; undefined before the first check. */
  entry: JsonObject | undefined;
  /** URL of its OpenAPI document; undefined when it has none. */
  documentUrl: string | undefined;
  failures: number;
  checking: Promise<void> | undefined;
  again: boolean;
  cancel: Cancel | undefined;
}

export class Aggregator {
  /** Increases with every change of the aggregated part of discovery. */
  generation = 0;
  readonly transport: RemoteTransport;
  readonly #clock: Clock;
  /** By the name of the APIService. */
  readonly #remotes = new Map<string, Remote>();
  #unlisten: (() => void) | undefined;
  #stopped = false;

  constructor(transport: RemoteTransport, clock: Clock) {
    this.transport = transport;
    this.#clock = clock;
  }

  start(): void {
    const { store } = this.transport;
    for (const { object } of store.view(API_SERVICES)!.entries('')) {
      const registration = parseRegistration(object);
      if (registration) this.#add(registration);
    }
    this.#unlisten = store.listen((change) => this.#observe(change));
  }

  /** Resolves when no check is running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unlisten?.();
    const remotes = [...this.#remotes.values()];
    for (const remote of remotes) remote.cancel?.();
    await Promise.all(remotes.map((remote) => remote.checking));
  }

  /** The aggregated API that serves the path; undefined when this server serves it. */
  find(path: Path): Registration | undefined {
    if (this.#remotes.size === 0) return undefined;
    if (path.kind === 'other') return this.#documented(path.path);
    const isTheirs = path.kind === 'resource' || (path.kind === 'discovery' && path.level === 'version');
    return isTheirs ? this.#remote(path.group, path.version)?.registration : undefined;
  }

  #documented(path: string): Registration | undefined {
    const [, group = '', version = ''] = /^\/openapi\/v3\/apis\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const remote = this.#remote(group, version);
    return remote?.documentUrl === undefined ? undefined : remote.registration;
  }

  /** Names and URLs of the OpenAPI documents of aggregated APIs. */
  documents(): [name: string, url: string][] {
    return [...this.#remotes.values()].flatMap(({ registration, documentUrl }) =>
      documentUrl === undefined ? [] : [[documentName(registration), documentUrl] as [string, string]],
    );
  }

  registrations(): Registration[] {
    return [...this.#remotes.values()].map(({ registration }) => registration);
  }

  /** The APIVersionDiscovery of an aggregated group version; undefined before the first check. */
  entryOf(group: string, version: string): JsonObject | undefined {
    return this.#remote(group, version)?.entry;
  }

  isRemote(group: string, version: string): boolean {
    return this.#remote(group, version) !== undefined;
  }

  /** Versions in paths may contain dots, so the name alone is ambiguous. */
  #remote(group: string, version: string): Remote | undefined {
    const found = this.#remotes.get(`${version}.${group}`);
    return found?.registration.version === version ? found : undefined;
  }

  #observe(change: Change): void {
    if (ADDRESS_RESOURCES.has(change.resource)) {
      const namespace = change.key.slice(0, change.key.indexOf('/'));
      for (const remote of this.#remotes.values())
        if (remote.registration.service.namespace === namespace) this.#check(remote);
      return;
    }
    if (change.resource !== API_SERVICES) return;
    const registration = change.next && parseRegistration(change.next.object);
    const known = this.#remotes.get(change.key);
    if (registration === undefined) this.#drop(change.key);
    else if (known === undefined) this.#add(registration);
    else this.#replace(known, registration);
  }

  #add(registration: Registration): void {
    const remote: Remote = {
      registration,
      entry: undefined,
      documentUrl: undefined,
      failures: 0,
      checking: undefined,
      again: false,
      cancel: undefined,
    };
    this.#remotes.set(registration.name, remote);
    this.generation++;
    this.#check(remote);
  }

  #replace(remote: Remote, registration: Registration): void {
    const before = remote.registration;
    remote.registration = registration;
    this.generation++;
    // This server writes the condition itself; any other change needs a check.
    if (
      JSON.stringify({ ...before, available: true }) !== JSON.stringify({ ...registration, available: true })
    )
      this.#check(remote);
  }

  #drop(name: string): void {
    const remote = this.#remotes.get(name);
    if (remote === undefined) return;
    remote.cancel?.();
    this.#remotes.delete(name);
    this.generation++;
  }

  #check(remote: Remote): void {
    if (this.#stopped) return;
    remote.again = true;
    remote.checking ??= this.#checkUntilUnchanged(remote);
  }

  async #checkUntilUnchanged(remote: Remote): Promise<void> {
    // Not inside the current commit: its other listeners have not seen it yet.
    await Promise.resolve();
    while (remote.again && this.#isCurrent(remote)) {
      remote.again = false;
      remote.cancel?.();
      const isFine = await this.#checkOnce(remote);
      remote.failures = isFine ? 0 : remote.failures + 1;
    }
    remote.checking = undefined;
    if (!this.#isCurrent(remote)) return;
    remote.cancel = wakeAfter(this.#clock, pauseAfter(remote.failures), () => this.#check(remote));
  }

  #isCurrent(remote: Remote): boolean {
    return !this.#stopped && this.#remotes.get(remote.registration.name) === remote;
  }

  async #checkOnce(remote: Remote): Promise<boolean> {
    const { registration } = remote;
    const [availability, entry, documentUrl] = await Promise.all([
      checkAvailability(this.transport, registration),
      fetchVersion(this.transport, registration).catch(() => undefined),
      fetchDocumentUrl(this.transport, registration).catch(() => remote.documentUrl),
    ]);
    if (!this.#isCurrent(remote)) return true;
    remote.documentUrl = documentUrl;
    const stale = remote.entry ?? { version: registration.version };
    const next = entry ? { ...entry, freshness: 'Current' } : { ...stale, freshness: 'Stale' };
    if (JSON.stringify(next) !== JSON.stringify(remote.entry)) {
      remote.entry = next;
      this.generation++;
    }
    const isWritten = await this.#write(registration.name, availability);
    return isWritten && availability.status === 'True' && entry !== undefined;
  }

  /** False after a conflict or a store failure: the caller tries again. */
  async #write(name: string, availability: Parameters<typeof withAvailability>[1]): Promise<boolean> {
    const { store } = this.transport;
    const stored = store.getHead(API_SERVICES, name);
    const next = stored && withAvailability(stored.object, availability, this.#clock.now());
    if (next === undefined) return true;
    try {
      await store.put(API_SERVICES, name, stored!.revision, next);
      return true;
    } catch {
      return false;
    }
  }
}

const pauseAfter = (failures: number): Millis =>
  failures === 0 ? CHECK_INTERVAL : millis(Math.min(CHECK_INTERVAL, FIRST_RETRY * 2 ** (failures - 1)));
