// A read-only transport: rejects every request that is not a GET.

import type { Transport, TransportRequest } from '@lapse/kube/client/transport';

export function readOnly(inner: Transport): Transport {
  const check = ({ method, path }: TransportRequest): void => {
    if (method !== 'GET') throw new Error(`${method} ${path} was not sent: this command only reads`);
  };
  return {
    request: async (request) => {
      check(request);
      return inner.request(request);
    },
    stream: async (request) => {
      check(request);
      return inner.stream(request);
    },
    ...(inner.close === undefined ? {} : { close: () => inner.close!() }),
  };
}
