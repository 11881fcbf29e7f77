// Groups under k8s.io and kubernetes.io belong to the Kubernetes community: their CRDs need an annotation with the
// URL of the API approval, or that says that they are unapproved.

import { type FieldError, invalid, quoteGo, required } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';

const ANNOTATION = 'api-approved.kubernetes.io';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

export type Approval = 'approved' | 'bypassed' | 'missing' | 'invalid';

export const isProtectedGroup = (group: string): boolean => /^(.*\.)?(k8s|kubernetes)\.io$/s.test(group);

export function approvalOf({ metadata }: KubeObject): { state: Approval; reason: string } {
  const value = metadata.annotations?.[ANNOTATION] ?? '';
  const must = `protected groups must have approval annotation "${ANNOTATION}"`;
  if (value === '') return { state: 'missing', reason: `${must}, ${SEE}` };
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quoteGo(value)}` };
  if (isAbsoluteUrl(value)) return { state: 'approved', reason: `approved in ${value}` };
  return {
    state: 'invalid',
    reason: `${must} with either a URL or a reason starting with "unapproved", ${SEE}`,
  };
}

/** Has a scheme and a host, like net/url's ParseRequestURI. */
const isAbsoluteUrl = (value: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.test(value) && URL.canParse(value);

/** On update only a change of the approval state is validated. */
export function validateApproval(group: string, next: KubeObject, old?: KubeObject): FieldError[] {
  if (!isProtectedGroup(group)) return [];
  const { state, reason } = approvalOf(next);
  if (old && approvalOf(old).state === state) return [];
  const field = `metadata.annotations[${ANNOTATION}]`;
  if (state === 'missing') return [required(field, reason)];
  return state === 'invalid' ? [invalid(field, next.metadata.annotations?.[ANNOTATION], reason)] : [];
}
