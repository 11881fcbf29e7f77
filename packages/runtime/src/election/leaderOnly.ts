// A transport that allows writes only while leading. It is the last check before the network, after all queues and
// delays, and aborts running writes when the leadership ends. A write that still reaches the server carries a
// resourceVersion, a uid or a fixed name, so that the server refuses it or it changes nothing.

import { linkedController } from '@lapse/kube/client/abortable';
import { type Transport, TransportError, type TransportRequest } from '@lapse/kube/client/transport';

export interface Leadership {
  isValid(): boolean;
  readonly term: AbortSignal | undefined;
}

const isRead = ({ method }: TransportRequest): boolean => method === 'GET' || method === 'HEAD';

const refused = (): TransportError =>
  new TransportError('aborted', 'not sent: this process does not lead', { sent: false });

/** Reads and watches are always allowed; writes only while leading. */
export function leaderOnly(inner: Transport, leadership: Leadership): Transport {
  return {
    async request(request) {
      if (isRead(request)) return inner.request(request);
      const { term } = leadership;
      if (term === undefined || !leadership.isValid()) throw refused();
      const { controller, unlink } = linkedController(request.signal);
      const onEnd = () => controller.abort(term.reason);
      term.addEventListener('abort', onEnd, { once: true });
      try {
        return await inner.request({ ...request, signal: controller.signal });
      } finally {
        unlink();
        term.removeEventListener('abort', onEnd);
      }
    },
    stream: (request) => inner.stream(request),
    ...(inner.close === undefined ? {} : { close: () => inner.close!() }),
  };
}
