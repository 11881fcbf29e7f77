// How aggregated API servers authenticate this one: by a client certificate. A ConfigMap publishes its CA and the
// names of the headers with the user.

import { formatTime } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import { equal } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ClientCertificate } from '../admission/webhooks/outbound.ts';
import type { Core } from '../context.ts';
import { part } from '../strategies/values.ts';
import { EXTRA_PREFIX, GROUP_HEADER, UID_HEADER, USER_HEADER } from './identity.ts';

export interface FrontProxy {
  /** PEM of the CA that aggregated API servers trust. */
  readonly authority: string;
  /** The common name in the certificate. */
  readonly name: string;
  readonly certificate: ClientCertificate;
}

const NAMESPACE = 'kube-system';
const CONFIG = 'extension-apiserver-authentication';

/** Written at every start: the CA may have changed. */
export async function publishFrontProxy(core: Core, { authority, name }: FrontProxy): Promise<void> {
  const data: JsonObject = {
    'requestheader-allowed-names': JSON.stringify([name]),
    'requestheader-client-ca-file': authority,
    'requestheader-extra-headers-prefix': JSON.stringify([EXTRA_PREFIX]),
    'requestheader-group-headers': JSON.stringify([GROUP_HEADER]),
    'requestheader-uid-headers': JSON.stringify([UID_HEADER]),
    'requestheader-username-headers': JSON.stringify([USER_HEADER]),
  };
  const key = `${NAMESPACE}/${CONFIG}`;
  const known = core.store.get('configmaps', key);
  if (known && equal(part(known.object, 'data'), data)) return;
  const object = { kind: 'ConfigMap', apiVersion: 'v1', data, metadata: metadataOf(core, CONFIG) };
  await core.store.put('configmaps', key, known?.revision ?? 0, {
    ...object,
    ...(known ? { metadata: { ...known.object.metadata } } : {}),
  });
}

const metadataOf = ({ random, clock }: Core, name: string): KubeObject['metadata'] => ({
  name,
  namespace: NAMESPACE,
  uid: uuid(random),
  creationTimestamp: formatTime(clock.now()),
});
