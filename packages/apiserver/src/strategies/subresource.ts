// Bodies of subresources with their own kind, and the Success status that some of them return.

import type { HttpResponse } from '@lapse/kube/api/http';
import { apiVersionOf, type GroupVersionKind, type KubeObject } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import { builtinTable } from '../data/tables.ts';
import { decodeBody } from '../decode/decode.ts';
import type { WriteOptions } from '../http/query.ts';
import { encode } from '../http/respond.ts';
import type { Codec } from '../resources/resource.ts';
import { structCodec } from '../resources/structCodec.ts';
import { subdomainName } from './names.ts';

export const structNameOf = (gvk: GroupVersionKind): string =>
  builtinTable().kinds[`${apiVersionOf(gvk)}/${gvk.kind}`]!;

export const codecOf = (gvk: GroupVersionKind): Codec =>
  structCodec(gvk, structNameOf(gvk), { nameRule: subdomainName });

/** The body of the request as an object of another kind than the resource. */
export function decodeAs(call: Call, gvk: GroupVersionKind, options: WriteOptions): KubeObject {
  const resource = { ...call.resource, ...gvk, codec: codecOf(gvk) };
  return decodeBody({ ...call, resource }, options);
}

/** Runs admission for such a body as a CREATE. Throws when it is rejected. */
export async function admitAs(
  call: Call,
  gvk: GroupVersionKind,
  object: KubeObject,
  dryRun: boolean,
): Promise<KubeObject> {
  const { admission } = call.core;
  const kind = { ...gvk, codec: codecOf(gvk) };
  const write = { operation: 'CREATE' as const, object, old: undefined, name: call.name!, dryRun, kind };
  const admitted = (await admission.mutate(call, write))!;
  await admission.validate(call, { ...write, object: admitted });
  return admitted;
}

export function createdStatus(call: Call): HttpResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return encode(201, status, { ...call.negotiated, representation: { as: 'object' } });
}
