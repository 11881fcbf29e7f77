// Requests for tests of manifest captures.

import { apiVersionOf } from '@lapse/kube/api/object';
import { ManifestCaptureRequest } from '#api/manifestCaptureRequest';

/** In namespace shop, with targets such as `v1 ConfigMap a`. */
export const request = (...texts: string[]): ManifestCaptureRequest => ({
  apiVersion: apiVersionOf(ManifestCaptureRequest),
  kind: ManifestCaptureRequest.kind,
  metadata: { namespace: 'shop', name: 'before', uid: 'uid-1' },
  spec: {
    targets: texts.map((text) => {
      const [apiVersion = '', kind = '', name = ''] = text.split(' ');
      return { apiVersion, kind, name };
    }),
  },
});
