// The identity of objects in a checkpoint and their order: by apiVersion, kind, namespace and name, bytewise.

export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

const FIELDS = ['apiVersion', 'kind', 'namespace', 'name'] as const;

/** Negative, zero or positive. The fields are ASCII, so comparing characters is comparing bytes. */
export function compareIdentities(a: Identity, b: Identity): number {
  for (const field of FIELDS) if (a[field] !== b[field]) return a[field] < b[field] ? -1 : 1;
  return 0;
}

/** `apps/v1 Deployment shop/web`. */
export const describeIdentity = ({ apiVersion, kind, namespace, name }: Identity): string =>
  `${apiVersion} ${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
