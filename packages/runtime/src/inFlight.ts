// Counts the requests without a response, to detect when a process is idle.

import type { Transport } from '@lapse/kube/client/transport';

export interface Counted {
  readonly transport: Transport;
  /** Number of requests without a response. Streams count until their headers arrive. */
  inFlight(): number;
}

export function countInFlight(inner: Transport): Counted {
  let inFlight = 0;
  const count = async <A>(send: () => Promise<A>): Promise<A> => {
    inFlight++;
    try {
      return await send();
    } finally {
      inFlight--;
    }
  };
  return {
    inFlight: () => inFlight,
    transport: {
      request: (request) => count(() => inner.request(request)),
      stream: (request) => count(() => inner.stream(request)),
      ...(inner.close === undefined ? {} : { close: () => inner.close!() }),
    },
  };
}
