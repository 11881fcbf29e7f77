// Requests for tests of manifest captures.

import { ManifestCaptureRequest } from '#api/kinds/manifestCaptureRequest';
import { apiVersionOf } from '#api/object';

/** In namespace shop, of targets as `v1 ConfigMap a`. */
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
