// Names of schemas: those of Go packages for built-in types, the reversed group for custom ones.

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

/** The names under which the scalar-like types of the table appear as schemas of their own. */
export const NAMED_SCALARS: Readonly<Record<string, string>> = {
  Time: `${META}Time`,
  MicroTime: `${META}MicroTime`,
  Duration: `${META}Duration`,
  FieldsV1: `${META}FieldsV1`,
  Quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  IntOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  RawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  JSON: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
};

export const meta = (kind: string): string => `${META}${kind}`;

export const reference = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

/** `zoo.example.com` v1 Widget is `com.example.zoo.v1.Widget`. */
export const customName = (group: string, version: string, kind: string): string =>
  [...group.split('.').reverse(), version, kind].join('.');
