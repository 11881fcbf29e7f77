// Registers and unregisters the resources of stored CRDs. Runs inside the commit of a CRD, so it neither writes nor
// throws.

import { equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Core } from '../context.ts';
import { type Codec, type Resource, storageName } from '../resources/resource.ts';
import { customCodec } from './codec.ts';
import { isConditionTrue } from './conditions.ts';
import { type Crd, readCrd } from './crd.ts';
import { inState, type Served, type ServiceState, serve } from './resources.ts';

interface Installed {
  readonly crd: Crd;
  readonly state: ServiceState;
  served: Served;
}

export class Serving {
  readonly #core: Core;
  /** By name of the CRD. */
  readonly #installed = new Map<string, Installed>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** `object`: the current CRD; undefined when it was deleted. */
  update(name: string, object: KubeObject | undefined): void {
    const installed = this.#installed.get(name);
    if (!object || !isServed(object)) {
      if (installed) this.#remove(name, installed);
      return;
    }
    const crd = readCrd(object);
    const terminating = isConditionTrue(object, 'Terminating');
    if (installed && sameService(installed.crd, crd)) {
      if (installed.state.terminating !== terminating) this.#setTerminating(installed, terminating);
      return;
    }
    this.#install(name, crd, terminating);
    const storage = storageName(crd.spec.group, crd.acceptedNames.plural);
    // A new CRD has no history: objects of an earlier CRD of the same name do not belong to it.
    if (installed?.crd.uid !== crd.uid) this.#core.store.restartHistory(storage);
    // Watches show objects by the schema they started with, so a change ends them, as in kube-apiserver.
    if (installed) this.#core.hub.closeResource(storage);
  }

  /** The codec for stored objects of this CRD. */
  storageCodec(name: string): Codec | undefined {
    const versions = this.#installed.get(name)?.served.versions;
    return versions && customCodec(versions, versions.storageVersion);
  }

  #install(name: string, crd: Crd, terminating: boolean): void {
    const old = this.#installed.get(name);
    const state: ServiceState = {
      terminating,
      since: this.#core.store.headRevision,
      current: () => this.#installed.get(name)?.served ?? served,
    };
    const served = serve(crd, state);
    this.#swap(old?.served, served);
    this.#installed.set(name, { crd, state, served });
  }

  #setTerminating(installed: Installed, terminating: boolean): void {
    installed.state.terminating = terminating;
    const served = inState(installed.served, installed.state);
    this.#swap(installed.served, served);
    installed.served = served;
  }

  #remove(name: string, { served, crd }: Installed): void {
    this.#installed.delete(name);
    this.#swap(served, undefined);
    this.#core.hub.closeResource(storageName(crd.spec.group, crd.acceptedNames.plural));
  }

  #swap(old: Served | undefined, next: Served | undefined): void {
    const { registry } = this.#core;
    // A CRD cannot replace a built-in resource.
    const isFree = ({ group, version, plural }: Resource) =>
      registry.get(group, version, plural)?.custom !== false;
    for (const resource of old?.resources ?? []) if (isFree(resource)) registry.remove(resource);
    for (const resource of next?.resources ?? []) if (isFree(resource)) registry.add(resource);
  }
}

const isServed = (object: KubeObject): boolean =>
  isConditionTrue(object, 'NamesAccepted') || isConditionTrue(object, 'Established');

/** True when the change does not affect requests. */
const sameService = (a: Crd, b: Crd): boolean =>
  a.uid === b.uid &&
  equal(a.spec as unknown as Json, b.spec as unknown as JsonObject) &&
  equal(a.acceptedNames as unknown as Json, b.acceptedNames as unknown as JsonObject);
