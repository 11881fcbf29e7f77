// Endpoints that the generic verbs do not serve: subresources with a body of another kind (`binding`, `eviction`,
// `token`, `scale`) and the logs of Pods.

import type { HttpResponse } from '@lapse/kube/api/http';
import { requestToken } from '../access/tokenRequest.ts';
import type { Call } from '../context.ts';
import { customScaleEndpoint } from '../crd/scale.ts';
import type { Resource } from '../resources/resource.ts';
import { scaleEndpoint } from '../strategies/apps/scale.ts';
import { bindPod } from '../strategies/pod/binding.ts';
import { evictPod } from '../strategies/pod/eviction.ts';
import { podLog } from '../strategies/pod/log.ts';

/** Handlers by method. */
type Endpoint = Readonly<Record<string, (call: Call) => Promise<HttpResponse>>>;

/** By stored resource and subresource. */
const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'deployments.apps/scale': scaleEndpoint,
  'pods/binding': { POST: bindPod },
  'pods/eviction': { POST: evictPod },
  'pods/log': { GET: podLog },
  'replicasets.apps/scale': scaleEndpoint,
  'replicationcontrollers/scale': scaleEndpoint,
  'serviceaccounts/token': { POST: requestToken },
  'statefulsets.apps/scale': scaleEndpoint,
};

/** Undefined when the generic verbs serve the subresource. */
export function endpointOf(resource: Resource, subresource: string): Endpoint | undefined {
  if (resource.custom) return resource.scale && subresource === 'scale' ? customScaleEndpoint : undefined;
  const name = `${resource.storage}/${subresource}`;
  return Object.hasOwn(ENDPOINTS, name) ? ENDPOINTS[name] : undefined;
}
