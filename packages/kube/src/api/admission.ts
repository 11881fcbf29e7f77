// Admission as functions, in the shapes of admission.k8s.io/v1: the same function can be registered with the embedded
// server in process and hosted over HTTPS in front of a real one.

import { type FieldError, invalidError } from './fieldErrors.ts';
import type { JsonObject } from './json.ts';
import type { KubeObject } from './object.ts';
import type { StatusDetails } from './status.ts';

export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { group: string; version: string; kind: string };
  readonly resource: { group: string; version: string; resource: string };
  readonly subResource?: string;
  readonly name: string;
  readonly namespace?: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly userInfo: {
    username: string;
    uid?: string;
    groups?: readonly string[];
    extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly object: KubeObject | null;
  readonly oldObject: KubeObject | null;
  readonly dryRun: boolean;
  readonly options?: JsonObject;
}

export type AdmissionAnswer =
  | { readonly allowed: true; readonly warnings?: readonly string[]; readonly object?: KubeObject }
  | {
      readonly allowed: false;
      readonly message: string;
      readonly code?: number;
      readonly reason?: string;
      readonly details?: StatusDetails;
      readonly warnings?: readonly string[];
    };

export interface AdmissionFunction {
  readonly name: string;
  /** `jobs.batch`; subresources as `jobs.batch/status`. */
  readonly resources: readonly string[];
  /** Mutating functions answer with a changed `object`. */
  readonly phase: 'mutating' | 'validating';
  review(request: AdmissionRequest): Promise<AdmissionAnswer> | AdmissionAnswer;
}

/** A refusal that names fields, as the API server words its own: `Cleaner.cleaner.vtex.dev "shop" is invalid: …`. */
export function denyInvalid(
  of: { readonly group: string; readonly kind: string },
  { metadata }: KubeObject,
  errors: readonly FieldError[],
): AdmissionAnswer {
  const { message, code, reason, status } = invalidError(of, metadata.name ?? '', errors);
  return { allowed: false, message, code, reason, ...(status.details ? { details: status.details } : {}) };
}
