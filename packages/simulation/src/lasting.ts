// A server ends watches after half an hour or so, to spread load. In a simulation that would only be work: here they last
// until a fault ends them.

import type { HttpHandler, HttpRequest } from '@lapse/kube/api/http';

const FOR_EVER = 'timeoutSeconds=1000000000';

const isWatch = (path: string): boolean => /[?&]watch=(1|true)/.test(path);

export const lasting =
  (handler: HttpHandler): HttpHandler =>
  (request: HttpRequest) =>
    isWatch(request.path) && !request.path.includes('timeoutSeconds=')
      ? handler({ ...request, path: `${request.path}&${FOR_EVER}` })
      : handler(request);
