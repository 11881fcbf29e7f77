// Admission functions in the shapes of admission.k8s.io/v1. The same function can be registered in process with the
// embedded API server or served over HTTPS to a real one.

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

export type AdmissionResponse =
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
  /** `jobs.batch`; with a subresource: `jobs.batch/status`. */
  readonly resources: readonly string[];
  /** Mutating functions return a changed `object`. */
  readonly phase: 'mutating' | 'validating';
  review(request: AdmissionRequest): Promise<AdmissionResponse> | AdmissionResponse;
}

/** A denial that names fields, worded like the API server: `Cleaner.cleaner.vtex.dev "shop" is invalid: …`. */
export function denyInvalid(
  of: { readonly group: string; readonly kind: string },
  { metadata }: KubeObject,
  errors: readonly FieldError[],
): AdmissionResponse {
  const { message, code, reason, status } = invalidError(of, metadata.name ?? '', errors);
  return { allowed: false, message, code, reason, ...(status.details ? { details: status.details } : {}) };
}
