// All served resources, by group, version and plural. Built-ins are registered at start; CRDs add and remove
// resources.

import type { Resource } from './resource.ts';

export interface GroupInfo {
  readonly group: string;
  /** Preferred first. */
  readonly versions: readonly string[];
}

export class Registry {
  readonly #versions = new Map<string, Map<string, Resource>>();
  readonly #groups = new Map<string, string[]>();
  /** Increases with every change of the served resources; caches of discovery documents compare it. */
  generation = 0;

  readonly #listeners = new Set<() => void>();

  /** Calls the listener after every change of `generation`. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.generation++;
    for (const listener of this.#listeners) listener();
  }

  add(resource: Resource): void {
    const key = `${resource.group}/${resource.version}`;
    let version = this.#versions.get(key);
    if (!version) {
      version = new Map();
      this.#versions.set(key, version);
      const versions = this.#groups.get(resource.group) ?? [];
      versions.push(resource.version);
      this.#groups.set(resource.group, versions.sort(compareApiVersions));
    }
    version.set(resource.plural, resource);
    this.#changed();
  }

  remove(resource: Resource): void {
    const key = `${resource.group}/${resource.version}`;
    const version = this.#versions.get(key);
    if (!version || version.get(resource.plural) === undefined) return;
    version.delete(resource.plural);
    if (version.size === 0) this.#removeVersion(resource);
    this.#changed();
  }

  #removeVersion(resource: Resource): void {
    this.#versions.delete(`${resource.group}/${resource.version}`);
    const versions = (this.#groups.get(resource.group) ?? []).filter((v) => v !== resource.version);
    if (versions.length > 0) this.#groups.set(resource.group, versions);
    else this.#groups.delete(resource.group);
  }

  get(group: string, version: string, plural: string): Resource | undefined {
    return this.#versions.get(`${group}/${version}`)?.get(plural);
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  /**
   * True when CRDs define all resources of the group; then unknown paths of the group are unknown to the router, too.
   */
  isCustomGroup(group: string): boolean {
    const versions = this.#groups.get(group) ?? [];
    return versions.length > 0 && versions.every((v) => this.version(group, v)!.every((r) => r.custom));
  }

  /** Resources of a group version, by plural; undefined when it is not served. */
  version(group: string, version: string): Resource[] | undefined {
    const resources = this.#versions.get(`${group}/${version}`);
    return resources && [...resources.values()].sort((a, b) => (a.plural < b.plural ? -1 : 1));
  }

  groups(): GroupInfo[] {
    return [...this.#groups].map(([group, versions]) => ({ group, versions }));
  }

  byKind(group: string, version: string, kind: string): Resource | undefined {
    for (const r of this.#versions.get(`${group}/${version}`)?.values() ?? []) if (r.kind === kind) return r;
    return undefined;
  }

  *all(): Iterable<Resource> {
    for (const version of this.#versions.values()) yield* version.values();
  }
}

/** Kubernetes' version order: v2 before v1, then v1beta2, v1beta1, v1alpha1, then all others by name. */
export function compareApiVersions(a: string, b: string): number {
  const [ma, mb] = [VERSION.exec(a), VERSION.exec(b)];
  if (ma && mb)
    return rank(mb) - rank(ma) || Number(mb[1]) - Number(ma[1]) || Number(mb[3] ?? 0) - Number(ma[3] ?? 0);
  if (ma || mb) return ma ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const VERSION = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const rank = (m: RegExpExecArray) => (m[2] === undefined ? 2 : m[2] === 'beta' ? 1 : 0);
