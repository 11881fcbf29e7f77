// Strategy of ServiceAccount: keeps only the names of listed secrets. Its tokens are signed in access/.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { metaOf, metaUpdate } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { has, objects, text } from '../values.ts';

const MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets';

function keepNamesOnly(account: KubeObject): void {
  if (!has(account, 'secrets')) return;
  account['secrets'] = objects(account, 'secrets').map((s) =>
    text(s, 'name') === '' ? {} : { name: text(s, 'name') },
  );
}

const isMarked = (account: KubeObject | undefined) =>
  account?.metadata.annotations?.[MOUNTABLE] !== undefined;

export const serviceAccountStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  validatesMeta: true,
  prepareForCreate: keepNamesOnly,
  prepareForUpdate: keepNamesOnly,
  validateUpdate: (next, old) => [...metaUpdate(next, old), ...metaOf(next, true, subdomainName)],
  warnings: (next, old) =>
    isMarked(next) && !isMarked(old)
      ? [
          `metadata.annotations[${MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
        ]
      : [],
};
