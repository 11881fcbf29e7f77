// A read-only transport: allows GET and reviews of the user's own rights.

import type { Transport, TransportRequest } from '@lapse/kube/client/transport';
import { readOnly } from '#manager/readOnly';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

const isReview = ({ method, path }: TransportRequest): boolean =>
  method === 'POST' && path.replace(/\?.*/, '') === REVIEWS;

export function readOnlyWithReviews(inner: Transport): Transport {
  const reading = readOnly(inner);
  return { ...reading, request: (request) => (isReview(request) ? inner : reading).request(request) };
}
