// The checks of `lapse doctor` for one policy: its spec, its author, and permissions that Lapse itself lacks.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import {
  checkAuthor,
  lackOf,
  type ObjectCheck,
  type ObjectProblem,
  type ReviewNeeds,
} from '../objectCheck.ts';
import type { AdmissionOptions } from './admission.ts';
import { type AnyPolicy, compilePolicy } from './compile.ts';
import { authorRefusal, computeDisabled, computeNeeds, computeRefusedKind, signedOf } from './rights.ts';

export interface CheckOptions extends AdmissionOptions {
  /** DELETEs are sent as the author. */
  readonly asAuthor: boolean;
}

export const policyChecks = (options: CheckOptions): ObjectCheck[] =>
  ([TTLPolicy, ClusterTTLPolicy] as readonly Kind[]).map((kind) => ({
    kind,
    check: (object: KubeObject, review: ReviewNeeds) => checkPolicy(object as AnyPolicy, options, review),
  }));

async function checkPolicy(
  policy: AnyPolicy,
  { client, actAs, seal, impersonation, asAuthor }: CheckOptions,
  review: ReviewNeeds,
): Promise<ObjectProblem[]> {
  const compiled = compilePolicy(policy);
  if (compiled.kind === 'invalid')
    return compiled.errors.map(({ field, message }) => ({
      level: 'warning',
      message: `${field}: ${message}`,
    }));
  const refusal = computeRefusedKind(compiled.policy) ?? computeDisabled(compiled.policy, impersonation);
  if (refusal !== undefined) return [{ level: 'warning', message: refusal.message }];
  const author = await checkAuthor(async () => {
    if (actAs !== 'author') return undefined;
    const proof = await seal.authorOf(policy, signedOf(policy));
    return proof.kind === 'author' ? undefined : authorRefusal(proof, policy).message;
  });
  const served = await client.discovery.find(compiled.policy.target);
  if (served === undefined) return author;
  const { self } = computeNeeds(compiled.policy, served, actAs, asAuthor);
  // The permission to impersonate is part of the installation; another check of doctor covers it.
  const needs = self.filter(({ verb }) => verb !== 'impersonate');
  return [...lackOf(await review(needs)), ...author];
}
