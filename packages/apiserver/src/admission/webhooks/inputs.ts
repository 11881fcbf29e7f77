// The variables for CEL expressions of webhooks and policies.

import { type AccessCheck, authorizerValue, type Bindings, resourceCheckValue } from '@lapse/cel/cel';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { clone } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { type Call, isOfCollection, namespaceOf } from '../../context.ts';
import type { Resource, UserInfo } from '../../resources/resource.ts';
import { Stored } from '../../store/stored.ts';
import type { Write } from '../write.ts';

const NO_BYTES = new Uint8Array();

/** Converts an object to another version or group of the same objects. */
export function convert(object: KubeObject, from: Resource, to: Resource): KubeObject {
  if (from === to) return object;
  return to.codec.show(new Stored('', 0, NO_BYTES, from.codec.toStorage(asObject(clone(asJson(object))))));
}

/** The write with its objects converted to `as`. */
export function seenAs({ resource }: Call, write: Write, as: Resource): Write {
  const { object, old, kind } = write;
  const seen = (one: KubeObject | undefined) =>
    one === undefined || kind !== undefined ? one : convert(one, resource, as);
  return { ...write, object: seen(object), old: seen(old) };
}

/** The variables of every expression, without `authorizer`, `params` and `variables`. */
export const objectBindings = (
  { object, old }: Write,
  request: JsonObject,
  namespaceObject: Json = null,
): Bindings => ({
  object: object === undefined ? null : asJson(object),
  oldObject: old === undefined ? null : asJson(old),
  request,
  namespaceObject,
});

export function authorizerBindings(call: Call, write: Write): Bindings {
  const { resource, subresource = '' } = call;
  const check = accessCheckOf(call);
  const about = {
    group: resource.group,
    resource: resource.plural,
    subresource,
    namespace: namespaceOf(call, write.name),
    name: isOfCollection(call, write) ? '' : write.name,
  };
  return {
    authorizer: authorizerValue(check),
    'authorizer.requestResource': resourceCheckValue(check, about),
  };
}

const accessCheckOf =
  ({ core, user }: Call): AccessCheck =>
  ({ serviceAccount, verb, about }) =>
    core.authorizer.authorize(serviceAccount ? accountUser(serviceAccount) : user, { verb, ...about });

const accountUser = ({ namespace, name }: { namespace: string; name: string }): UserInfo => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});
