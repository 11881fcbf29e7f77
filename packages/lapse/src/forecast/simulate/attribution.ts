// Whose doing it was: which controller, in a pass over which key, asked for the end of an object. The context of a pass
// follows its promises into the transport, so that neither clients nor controllers have to carry it along.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { keyText } from '@lapse/runtime/interner';
import type { SeenRequest } from '@lapse/simulation/seen';
import type { Family } from '#controllers/family';

export interface Deed {
  readonly controller: string;
  /** Of the pass: the object itself, or what it was decided by (a Cleaner, say). */
  readonly key: string;
  /** Why the key was looked at: `VolumeCaptureRequest deleted`, `deadline: ttl`. */
  readonly reason: string;
}

interface Target {
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Names of objects come back: only the latest are worth knowing. */
const MOST = 100_000;

export class Attribution {
  readonly #current = new AsyncLocalStorage<Deed>();
  readonly #deeds = new Map<string, Deed>();

  /** The same family, its passes known as its own. */
  around(family: Family): Family {
    return {
      ...family,
      create: (services, configuration) => {
        const parts = family.create(services, configuration);
        return { ...parts, controllers: parts.controllers.map((definition) => this.#watched(definition)) };
      },
    };
  }

  /** To be called while a request is made; one that ends something is remembered. */
  request(seen: SeenRequest): void {
    const deed = this.#current.getStore();
    if (deed === undefined || (seen.verb !== 'delete' && seen.verb !== 'deletecollection')) return;
    const key = keyOf(seen);
    this.#deeds.delete(key);
    this.#deeds.set(key, deed);
    if (this.#deeds.size > MOST) this.#deeds.delete(this.#deeds.keys().next().value!);
  }

  /** Who asked last for the end of this object. */
  of(target: Target): Deed | undefined {
    const { name: _, ...collection } = target;
    return this.#deeds.get(keyOf(target)) ?? this.#deeds.get(keyOf(collection));
  }

  #watched(definition: ControllerDefinition): ControllerDefinition {
    const { name: controller, reconcile } = definition;
    return {
      ...definition,
      reconcile: (pass) =>
        this.#current.run({ controller, key: keyText(pass.key), reason: pass.reason }, () =>
          reconcile.call(definition, pass),
        ),
    };
  }
}

const keyOf = ({ group, resource, namespace, name }: Target): string =>
  `${group}/${resource}/${namespace ?? ''}/${name ?? ''}`;
