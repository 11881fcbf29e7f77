// The rights of every family, on the embedded server with RBAC: with the manifests and tests that
// test/kube/rbac.kube.ts runs on the real one.

import { dirname } from 'node:path';
import { verbOf } from '@lapse/apiserver/http/handle';
import { parsePath } from '@lapse/apiserver/http/path';
import { type Audited, describeFamilies } from '../kube/rbac/families.ts';
import { type LoggedRequest, startEmbeddedSocket } from './embeddedSocket.ts';

function describeRequest({ method, path, status }: LoggedRequest): Audited {
  const [pathname = '', query = ''] = path.split('?', 2);
  const parsed = parsePath(pathname);
  const { resource = '', subresource } = parsed.kind === 'resource' ? parsed : {};
  return {
    verb: verbOf(method, parsed, new URLSearchParams(query)),
    resource: [resource, subresource].filter(Boolean).join('/'),
    code: status!,
  };
}

describeFamilies(async () => {
  const embedded = await startEmbeddedSocket();
  const { url, ca, target, kubeconfig, requests } = embedded;
  return {
    url,
    ca,
    adminToken: target.adminToken!,
    directory: dirname(kubeconfig),
    audited: (_, token) =>
      requests
        .filter((request) => request.token === token && request.status !== undefined)
        .map(describeRequest),
    close: () => embedded.close(),
  };
});
