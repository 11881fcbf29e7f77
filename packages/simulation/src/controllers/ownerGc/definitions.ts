// Kinds of CustomResourceDefinitions, and whether discovery shows them yet.

import type { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false;

/** Whether the CRD serves the owner's version and kind, or is about to. */
export const isDefinedBy = (definition: CustomResourceDefinition, owner: OwnerReference): boolean => {
  const { spec } = definition;
  if (spec === undefined || !isEstablished(definition) || spec.names.kind !== owner.kind) return false;
  return spec.versions.some(
    ({ name, served }) => served && apiVersionOf({ group: spec.group, version: name }) === owner.apiVersion,
  );
};

/** The fields of a CRD that decide whether and how it is served. */
export const definitionFacts = (definition: CustomResourceDefinition) => ({
  established: isEstablished(definition),
  versions: definition.spec?.versions.map(({ name, served }) => ({ name, served })),
  names: definition.spec?.names,
});

/** A fingerprint: equal texts mean that the same kinds are served. */
export const definitionsState = (definitions: readonly CustomResourceDefinition[]): string =>
  JSON.stringify(
    definitions
      .map((definition) => [definition.metadata.uid, definitionFacts(definition)] as const)
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );

/** Whether the CRD is served but discovery does not show it yet. */
export function isUndiscovered(
  definition: CustomResourceDefinition,
  discovered: readonly ServedKind[],
): boolean {
  const { spec } = definition;
  if (spec === undefined || !isEstablished(definition)) return false;
  return spec.versions
    .filter(({ served }) => served)
    .some(
      ({ name }) =>
        !discovered.some(
          ({ group, version, resource }) =>
            group === spec.group && version === name && resource === spec.names.plural,
        ),
    );
}
