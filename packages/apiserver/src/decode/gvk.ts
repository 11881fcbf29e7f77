// Checks that the kind and apiVersion of the body belong to the resource of the URL. The errors depend on the
// mismatch.

import { badRequest } from '@lapse/kube/api/errors';
import { clone, type JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf, parseApiVersion } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import { DecodeError } from '#schema/typed';
import type { Call } from '../context.ts';
import { decodeMetadata } from '../crd/metadata.ts';
import { missingKind, unrecognised } from './body.ts';

const SCHEME = 'pkg/runtime/scheme.go:111';

/** A missing kind or apiVersion defaults to that of the URL, except for custom resources. */
export function checkGvk(call: Call, value: JsonObject, toError?: (why: string) => ApiError): void {
  if (call.resource.custom) {
    checkCustom(call, value);
    return;
  }
  const wanted = expectedKind(call);
  const kind = typeof value['kind'] === 'string' && value['kind'] !== '' ? value['kind'] : wanted.kind;
  const apiVersion =
    typeof value['apiVersion'] === 'string' && value['apiVersion'] !== ''
      ? value['apiVersion']
      : wanted.apiVersion;
  if (kind === wanted.kind && apiVersion === wanted.apiVersion) return;
  const gv = parseApiVersion(apiVersion);
  const version = gv?.version ?? '';
  const refuse = (why: string) =>
    toError?.(why) ??
    badRequest(`${kind} in version "${version}" cannot be handled as a ${wanted.kind}: ${why}`);
  if (!gv) {
    const why = `unexpected GroupVersion string: ${apiVersion}`;
    throw toError?.(why) ?? unrecognised(wanted.kind, why, call.request.body ?? new Uint8Array());
  }
  // CRDs have their own scheme, which has no List kind.
  const isList = kind === 'List' && apiVersion === 'v1' && call.resource.group !== 'apiextensions.k8s.io';
  if (isList || call.core.registry.byKind(gv.group, gv.version, kind)) {
    const internal = parseApiVersion(wanted.apiVersion)!.group.split('.')[0] || 'core';
    throw refuse(`converting (${gv.version}.${kind}) to (${internal}.${wanted.kind}): unknown conversion`);
  }
  throw refuse(`no kind "${kind}" is registered for version "${apiVersion}" in scheme "${SCHEME}"`);
}

/**
 * Custom resources have no Go struct with a kind, so the body must have one. Validation checks that it is the right
 * one.
 */
function checkCustom(call: Call, value: JsonObject): void {
  const { resource, request } = call;
  const bytes = request.body ?? new Uint8Array();
  const kind = typeof value['kind'] === 'string' ? value['kind'] : '';
  const apiVersion = typeof value['apiVersion'] === 'string' ? value['apiVersion'] : '';
  if (kind === '') throw missingKindError(call, bytes);
  if (apiVersion !== '' && !parseApiVersion(apiVersion)) {
    throw unrecognised(resource.kind, `unexpected GroupVersion string: ${apiVersion}`, bytes);
  }
  if (apiVersion !== apiVersionOf(resource)) {
    checkMetadata(call, value, kind, apiVersion);
    const text = 'the API version in the data';
    throw badRequest(
      `${text} (${apiVersion}) does not match the expected API version (${apiVersionOf(resource)})`,
    );
  }
}

/** kube-apiserver decodes metadata before it checks the version. */
function checkMetadata({ resource }: Call, { metadata }: JsonObject, kind: string, apiVersion: string): void {
  if (metadata === undefined || kind !== resource.kind) return;
  try {
    decodeMetadata(clone(metadata));
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause;
    const version = parseApiVersion(apiVersion)?.version ?? '';
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${cause.message}`);
  }
}

/** Without field validation another decoder reports the missing kind, and it knows the expected one. */
function missingKindError({ resource, query }: Call, bytes: Uint8Array): ApiError {
  if (query.get('fieldValidation') !== 'Ignore') return missingKind(resource.kind, bytes);
  const { kind, version } = resource;
  const why = `Object 'Kind' is missing in '${Buffer.from(bytes).toString('utf8')}'`;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** Subresources such as scale have their own kind. */
function expectedKind(call: Call): { kind: string; apiVersion: string } {
  const { resource, subresource } = call;
  const info = subresource ? resource.subresources.find((s) => s.name === subresource) : undefined;
  if (!info) return { kind: resource.kind, apiVersion: apiVersionOf(resource) };
  const group = info.group ?? resource.group;
  const version = info.version ?? resource.version;
  return { kind: info.kind, apiVersion: apiVersionOf({ group, version }) };
}
