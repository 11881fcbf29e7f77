// Which object of a checkpoint is which, and their order: by apiVersion, kind, namespace and name, as bytes compare.

export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for what is in no namespace. */
  readonly namespace: string;
  readonly name: string;
}

const FIELDS = ['apiVersion', 'kind', 'namespace', 'name'] as const;

/** Below, at or above zero. The fields are ASCII, so that comparing characters is comparing bytes. */
export function compareIdentities(a: Identity, b: Identity): number {
  for (const field of FIELDS) if (a[field] !== b[field]) return a[field] < b[field] ? -1 : 1;
  return 0;
}

/** `apps/v1 Deployment shop/web`. */
export const describeIdentity = ({ apiVersion, kind, namespace, name }: Identity): string =>
  `${apiVersion} ${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
