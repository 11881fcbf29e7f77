// GET pods/NAME/log. There is no kubelet here, so no Pod has logs, with or without a node.

import { badRequest, notFound, notImplemented } from '@lapse/kube/api/errors';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Call } from '../../context.ts';
import { keyOf, specOf } from '../../resources/resource.ts';
import { objects, text } from '../values.ts';

export async function podLog(call: Call): Promise<HttpResponse> {
  const pod = call.core.store.get('pods', keyOf(call.namespace, call.name!))?.object;
  if (!pod) throw notFound({ group: '', plural: 'pods' }, call.name!);
  checkContainer(specOf(pod), call.query.get('container') ?? '', call.name!);
  if (text(specOf(pod), 'nodeName') !== '') throw notImplemented('reading logs from nodes');
  return { status: 204, headers: {}, body: new Uint8Array() };
}

function checkContainer(spec: JsonObject, container: string, pod: string): void {
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    objects(spec, list).map((c) => text(c, 'name')),
  );
  if (container !== '' && !names.includes(container))
    throw badRequest(`container ${container} is not valid for pod ${pod}`);
  if (container === '' && objects(spec, 'containers').length !== 1)
    throw badRequest(
      `a container name must be specified for pod ${pod}, choose one of: [${names.join(' ')}]`,
    );
}
