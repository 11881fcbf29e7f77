// Public exports of the embedded API server, imported as `lapse/apiserver` for a Kubernetes API in tests. In process,
// call `handle`. Over a socket, call `listen(server.handle)` and pass the URL to any Kubernetes client.

export type { AdmissionFunction, AdmissionRequest, AdmissionResponse } from '@lapse/kube/api/admission';
export type { HttpHandler, HttpRequest, HttpResponse } from '@lapse/kube/api/http';
export { httpsOutbound, noOutbound, type Outbound } from './admission/webhooks/outbound.ts';
export type { FrontProxy } from './aggregation/frontProxy.ts';
export { type LocalService, localOutbound } from './aggregation/localOutbound.ts';
export { type Authenticator, parseTokenFile, tokenAuthenticator } from './authn/auth.ts';
export { frontProxyCertificate, type ServingCertificate, servingCertificate } from './authn/certificates.ts';
export { type Listener, type ListenOptions, listen } from './http/listen.ts';
export type { Advertised } from './kubernetesService.ts';
export { type ApiServer, createServer, type ServerOptions } from './server.ts';
export { openSqliteJournal } from './store/sqlite.ts';
export { Store } from './store/store.ts';
