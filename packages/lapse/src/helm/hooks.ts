// Hooks of a release: which hooks run for an event, their order, and their deletion policies.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { parseYamlDocument, splitDocuments } from './manifest.ts';
import type { Hook, Release } from './release.ts';

export type HookEvent = 'pre-delete' | 'post-delete';
export type DeletePolicy = 'before-hook-creation' | 'hook-succeeded' | 'hook-failed';

/** The hooks of an event in execution order: by weight, then by name. */
export function hooksFor(release: Release, event: HookEvent): Hook[] {
  return release.hooks
    .filter((hook) => hook.events.includes(event))
    .sort((a, b) => a.weight - b.weight || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Default policy: before-hook-creation. A CustomResourceDefinition is never deleted. */
export function hasPolicy(hook: Hook, policy: DeletePolicy): boolean {
  if (hook.kind === 'CustomResourceDefinition') return false;
  const policies = hook.deletePolicies.length === 0 ? ['before-hook-creation'] : hook.deletePolicies;
  return policies.includes(policy);
}

/** The object of a hook; undefined if the manifest does not contain exactly one object. */
export function hookObject(hook: Hook): JsonObject | undefined {
  const documents = splitDocuments(hook.manifest);
  if (documents.length !== 1) return undefined;
  const parsed = parseYamlDocument(documents[0]!);
  return isObject(parsed) && isObject(parsed.metadata) ? parsed : undefined;
}
