// The targets of a request: which objects, in which order, of which kinds. Pure except for discovery.

import type { ObjectKey } from '@lapse/kube/api/kind';
import { parseApiVersion } from '@lapse/kube/api/object';
import type { Discovery, ServedKind } from '@lapse/kube/client/discovery';
import type { ManifestCaptureRequest, ManifestTarget } from '#api/manifestCaptureRequest';
import { Reason } from '#api/storage/conditions';
import { compareIdentities, describeIdentity, type Identity } from '#checkpoint/identity';
import { type Failure, failure } from '#requests/refusal';
import type { ManifestPolicy } from './policy.ts';

/** One object to be read. */
export interface Target extends Identity {
  readonly served: ServedKind;
  readonly key: ObjectKey;
}

const invalid = (target: ManifestTarget, why: string): Failure =>
  failure(Reason.InvalidTarget, `target ${target.apiVersion} ${target.kind} ${target.name}: ${why}`);

/** Rejects names that would change the URL path. */
const isName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);

/** The requested objects, each once, in the order of checkpoints. Every kind may be captured. */
export async function findTargets(
  request: ManifestCaptureRequest,
  discovery: Discovery,
  policy: ManifestPolicy,
): Promise<readonly Target[] | Failure> {
  const wanted = request.spec?.targets ?? [];
  if (wanted.length === 0) return failure(Reason.InvalidTarget, 'spec.targets is empty');
  const namespace = request.metadata.namespace ?? '';
  const kinds = new Map<string, ServedKind | Failure>();
  const targets = new Map<string, Target>();
  for (const target of wanted) {
    const type = `${target.apiVersion} ${target.kind}`;
    const served = kinds.get(type) ?? (await findKind(target, discovery, policy));
    kinds.set(type, served);
    // Not checked by `kind`: the kind of an object may have any name, including `failure`.
    if ('reason' in served) return served;
    const found = computeTarget(target, served, namespace);
    if ('reason' in found) return found;
    targets.set(describeIdentity(found), found);
  }
  return [...targets.values()].sort(compareIdentities);
}

async function findKind(
  target: ManifestTarget,
  discovery: Discovery,
  policy: ManifestPolicy,
): Promise<ServedKind | Failure> {
  const gv = parseApiVersion(target.apiVersion);
  if (gv === undefined || gv.version === '') return invalid(target, 'its apiVersion is not group/version');
  const query = { ...gv, kind: target.kind };
  let served = await discovery.find(query);
  if (served === undefined) {
    // The kind may be newer than the discovery cache. Without a refresh the request would fail.
    discovery.invalidate();
    served = await discovery.find(query);
  }
  return served === undefined
    ? invalid(target, 'no such kind is served')
    : (kindProblem(target, served, policy) ?? served);
}

function kindProblem(
  target: ManifestTarget,
  served: ServedKind,
  policy: ManifestPolicy,
): Failure | undefined {
  if (!served.verbs.includes('get')) return invalid(target, 'objects of this kind cannot be read');
  if (policy.secrets === 'refuse' && isSecretKind(served))
    return invalid(target, 'Secrets are not captured here (capture.secrets)');
  if (policy.authorization !== 'AllowList' || policy.allowedKinds.includes(kindWord(served)))
    return undefined;
  return failure(
    Reason.RBACDenied,
    `target ${target.apiVersion} ${target.kind} ${target.name}: ${kindWord(served)} is not among capture.allowedKinds`,
  );
}

/** For example `ConfigMap`, `Deployment.apps`. */
const kindWord = ({ group, kind }: ServedKind): string => (group === '' ? kind : `${kind}.${group}`);

const isSecretKind = ({ group, kind }: ServedKind): boolean => group === '' && kind === 'Secret';

/** An object in the request's namespace, or that Namespace itself. */
export function computeTarget(
  target: ManifestTarget,
  served: ServedKind,
  namespace: string,
): Target | Failure {
  const { apiVersion, kind, name } = target;
  if (!isName(name)) return invalid(target, 'this cannot be a name');
  if (served.namespaced) return { apiVersion, kind, namespace, name, served, key: { namespace, name } };
  const isOwnNamespace = served.group === '' && served.kind === 'Namespace' && name === namespace;
  if (isOwnNamespace) return { apiVersion, kind, namespace: '', name, served, key: { name } };
  return invalid(target, `it is in no namespace; only Namespace ${namespace} itself can be captured`);
}
