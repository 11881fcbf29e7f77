// Records which controller, in a reconcile of which key, requested the deletion of an object. The async context of a
// reconcile reaches the transport, so that neither clients nor controllers need to pass it.

import { AsyncLocalStorage } from 'node:async_hooks';
import { BoundedMap } from '@lapse/base/boundedMap';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { keyText } from '@lapse/runtime/interner';
import type { RequestInfo } from '@lapse/simulation/requestInfo';
import type { Family } from '#controllers/family';

export interface DeletingReconcile {
  readonly controller: string;
  /** Key of the reconcile: the object itself, or the object that decided (for example a Cleaner). */
  readonly key: string;
  /** What triggered the reconcile: `VolumeCaptureRequest deleted`, `deadline: ttl`. */
  readonly reason: string;
}

interface Target {
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Object names are reused, so only the latest entries are kept. */
const MOST = 100_000;

export class Attribution {
  readonly #current = new AsyncLocalStorage<DeletingReconcile>();
  readonly #deeds = new BoundedMap<string, DeletingReconcile>(MOST);

  /** The same family, with its reconciles attributed to it. */
  around(family: Family): Family {
    return {
      ...family,
      create: (services, configuration) => {
        const parts = family.create(services, configuration);
        return { ...parts, controllers: parts.controllers.map((definition) => this.#watched(definition)) };
      },
    };
  }

  /** Called for each request. Deletions are recorded. */
  request(seen: RequestInfo): void {
    const reconcile = this.#current.getStore();
    if (reconcile === undefined || (seen.verb !== 'delete' && seen.verb !== 'deletecollection')) return;
    const key = keyOf(seen);
    this.#deeds.set(key, reconcile);
  }

  /** The last controller that requested the deletion of this object. */
  of(target: Target): DeletingReconcile | undefined {
    const { name: _, ...collection } = target;
    return this.#deeds.get(keyOf(target)) ?? this.#deeds.get(keyOf(collection));
  }

  #watched(definition: ControllerDefinition): ControllerDefinition {
    const { name: controller, reconcile } = definition;
    return {
      ...definition,
      reconcile: (ctx) =>
        this.#current.run({ controller, key: keyText(ctx.key), reason: ctx.reason }, () =>
          reconcile.call(definition, ctx),
        ),
    };
  }
}

const keyOf = ({ group, resource, namespace, name }: Target): string =>
  `${group}/${resource}/${namespace ?? ''}/${name ?? ''}`;
