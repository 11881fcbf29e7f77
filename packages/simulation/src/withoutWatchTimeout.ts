// Removes the server-side timeout of watches (about half an hour, to spread load), because reconnects are needless work
// in a simulation. Watches last until a fault breaks them.

import type { HttpHandler, HttpRequest } from '@lapse/kube/api/http';

const FOR_EVER = 'timeoutSeconds=1000000000';

const isWatch = (path: string): boolean => /[?&]watch=(1|true)/.test(path);

export const withoutWatchTimeout =
  (handler: HttpHandler): HttpHandler =>
  (request: HttpRequest) =>
    isWatch(request.path) && !request.path.includes('timeoutSeconds=')
      ? handler({ ...request, path: `${request.path}&${FOR_EVER}` })
      : handler(request);
