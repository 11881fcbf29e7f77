// Counts the requests that have no answer yet, so that "idle" can be known.

import type { Transport } from '@lapse/kube/client/transport';

export interface Counted {
  readonly transport: Transport;
  /** Requests without an answer; streams count until their headers are there. */
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
