// The object that a reconcile is about, for display. A policy uses its own keys for the objects it selects
// (controllers/ttl-policy/keys.ts); the timeline shows the object.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { parseKeyText } from '@lapse/runtime/interner';
import type { Change } from '@lapse/simulation/history';
import { refText } from '@lapse/simulation/refs';
import { parseWaking } from '#controllers/ttl-policy/keys';

export interface OwnedObject {
  readonly kind: string;
  readonly key: ObjectKey;
}

const POLICIES = 'ttl-policy';

export class KeyOwners {
  readonly #controllers = new Map<string, { readonly family: string; readonly kind: Kind }>();
  /** Kinds of observed objects, by `pipelineruns.tekton.dev`. */
  readonly #kinds = new Map<string, string>();

  controller(name: string, family: string, kind: Kind): void {
    this.#controllers.set(name, { family, kind });
  }

  seen({ group, resource, kind }: Pick<Change, 'group' | 'resource' | 'kind'>): void {
    this.#kinds.set(`${resource}.${group}`, kind);
  }

  familyOf(controller: string): string | undefined {
    return this.#controllers.get(controller)?.family;
  }

  kindOf(controller: string): Kind | undefined {
    return this.#controllers.get(controller)?.kind;
  }

  /** Undefined: the controller's own kind. */
  objectOf(controller: string, text: string): OwnedObject | undefined {
    if (this.familyOf(controller) !== POLICIES) return undefined;
    const waking = parseWaking(parseKeyText(text));
    if (waking.kind === 'policy') return { kind: waking.of.kind, key: waking.key };
    // An object without an observed change is shown by its resource.
    return { kind: this.#kinds.get(waking.resource) ?? waking.resource.replace(/\.$/, ''), key: waking.key };
  }

  refOf(controller: string, text: string): string {
    const { kind, key } = this.objectOf(controller, text) ?? {
      kind: this.kindOf(controller)?.kind ?? controller,
      key: parseKeyText(text),
    };
    return refText(kind, key);
  }
}
