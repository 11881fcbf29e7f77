// Simulated namespace controller: deletes the content of a terminating namespace, then removes its finalizer.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, plus, seconds } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import { type Condition, Namespace } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import {
  computeConditions,
  computeContentKinds,
  computeNamespaceStep,
  FINALIZER,
  type Findings,
} from './compute.ts';
import { deleteContent } from './content.ts';
import { getDiscovered } from './discovery.ts';

const namespaceFacts = ({ metadata, spec }: Namespace) => ({
  deleted: metadata.deletionTimestamp,
  finalizers: spec?.finalizers,
});

async function reconcile(ctx: ReconcileContext): Promise<Outcome> {
  const namespace = ctx.cache.get(Namespace, ctx.key);
  if (namespace === undefined) return settled();
  const step = computeNamespaceStep(namespace, ctx.now);
  switch (step.kind) {
    case 'nothing':
      return settled();
    case 'wait':
      return waitUntil(step.until, 'namespace deletion');
    case 'empty':
      return empty(ctx, namespace, step.since);
    default:
      return assertNever(step);
  }
}

async function empty(ctx: ReconcileContext, namespace: Namespace, since: Instant): Promise<Outcome> {
  const { client, now } = ctx;
  const discovered = await getDiscovered(client);
  const kinds = computeContentKinds(discovered.kinds);
  const name = namespace.metadata.name!;
  const { remains, problems, podsFirst } = await deleteContent(kinds, {
    client,
    namespace: name,
    since,
    now,
  });
  const findings: Findings = {
    problems,
    // Like the namespace controller of Kubernetes, which waits for Pods without counting them.
    remains: podsFirst ? [] : remains,
    ...(discovered.problem === undefined ? {} : { discovery: discovered.problem }),
  };
  const current = await patchConditions(ctx, namespace, findings);
  if (current === 'gone') return settled();
  if (current === 'changed') return again('changed while it was emptied');
  const trouble = [...(discovered.problem === undefined ? [] : [discovered.problem]), ...problems];
  if (trouble.length > 0) return failed(new Error(`namespace ${name}: ${trouble.join(', ')}`));
  const estimate = Math.max(0, ...remains.map((kind) => kind.estimate));
  if (estimate > 0) return waitUntil(plus(now, seconds(Math.floor(estimate / 2) + 1)), 'content remains');
  return finalize(ctx, current);
}

async function patchConditions(
  { client, now }: ReconcileContext,
  namespace: Namespace,
  findings: Findings,
): Promise<Namespace | 'gone' | 'changed'> {
  const conditions: Condition[] | undefined = computeConditions(
    namespace.status?.conditions ?? [],
    findings,
    now,
  );
  if (conditions === undefined) return namespace;
  const answer = await client.patch(
    Namespace,
    keyOf(namespace),
    { type: 'merge', patch: { status: { conditions } } },
    {
      subresource: 'status',
      ifUid: namespace.metadata.uid!,
      ifVersion: namespace.metadata.resourceVersion!,
    },
  );
  if (answer.kind === 'patched') return answer.object;
  if (answer.kind === 'invalid') throw answer.error;
  return answer.kind === 'missing' ? 'gone' : 'changed';
}

/** Removes the `kubernetes` finalizer. The API server deletes the namespace if no other finalizer is left. */
async function finalize({ client }: ReconcileContext, namespace: Namespace): Promise<Outcome> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((name) => name !== FINALIZER);
  const next: Namespace = { ...namespace, spec: { ...namespace.spec, finalizers } };
  const answer = await client.update(Namespace, next, { subresource: 'finalize' });
  if (answer.kind === 'invalid') throw answer.error;
  return answer.kind === 'conflict' ? again('changed while it was finalized') : settled();
}

export const namespaceGc = (): ControllerDefinition =>
  defineController<Namespace>({
    name: 'namespace-gc',
    for: Namespace,
    facts: namespaceFacts,
    concurrency: 10,
    rights: [
      { group: '*', resource: '*', verbs: ['list', 'delete', 'deletecollection'] },
      { group: '', resource: 'namespaces/status', verbs: ['patch'] },
      { group: '', resource: 'namespaces/finalize', verbs: ['update'] },
    ],
    reconcile,
  }) as ControllerDefinition;
