// The embedded server behind a real HTTPS socket on loopback, with a kubeconfig for unmodified third-party clients.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servingCertificate } from '@lapse/apiserver/authn/certificates';
import { listen } from '@lapse/apiserver/http/listen';
import { realClock } from '@lapse/base/clock';
import type { HttpHandler } from '@lapse/kube/api/http';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import { access, type Embedded, type EmbeddedOptions, startEmbedded } from './embeddedTarget.ts';
import { socketTarget } from './replay/targets.ts';
import type { Target } from './replay/types.ts';

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  /** The bearer token of the Authorization header. */
  readonly token: string | undefined;
  /** Undefined until it is answered. */
  status?: number;
}

export interface EmbeddedSocket {
  readonly embedded: Embedded;
  readonly target: Target;
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly kubeconfig: string;
  /** All requests since the start. */
  readonly requests: LoggedRequest[];
  close(): Promise<void>;
}

export async function startEmbeddedSocket(options: EmbeddedOptions = {}): Promise<EmbeddedSocket> {
  const embedded = await startEmbedded(options);
  const directory = mkdtempSync(join(tmpdir(), 'lapse-conformance-'));
  const tls = await servingCertificate(directory, ['127.0.0.1'], realClock.now());
  const requests: LoggedRequest[] = [];
  const logged: HttpHandler = async (request) => {
    const { method, path, headers } = request;
    const token = headers['authorization']?.replace(/^Bearer /, '');
    const entry: LoggedRequest = { method, path, token, contentType: headers['content-type'] };
    requests.push(entry);
    const response = await embedded.server.handle(request);
    entry.status = response.status;
    return response;
  };
  const listener = await listen(logged, { tls });
  const kubeconfig = join(directory, 'kubeconfig');
  const config = { server: listener.url, ca: tls.ca, token: access.adminToken, name: 'embedded' };
  writeFileSync(kubeconfig, renderKubeconfig(config), { mode: 0o600 });
  const socket = socketTarget(
    { url: listener.url, ca: tls.ca },
    { name: 'embedded over HTTPS', ...access, compact: async () => embedded.server.compact() },
  );
  return {
    embedded,
    target: socket,
    url: listener.url,
    ca: tls.ca,
    kubeconfig,
    requests,
    close: async () => {
      await socket.close();
      await embedded.close();
      await listener.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
