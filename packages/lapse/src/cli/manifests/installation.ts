// The parameters of an installation: names, namespace, image, families and feature gates. All manifests derive from
// this value. Pure.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ImpersonationScope } from '#authors/impersonation';
import type { Rule } from '#manager/rbac';
import type { FamilyNeeds, GateNeeds, Hook } from './needs.ts';

export type ActAs = 'author' | 'controller' | 'impersonate-author';

export interface Installation {
  /** Name of the Deployment and prefix of all other objects. */
  readonly name: string;
  readonly namespace: string;
  /** Include the Namespace, which is then deleted with the other objects. */
  readonly createNamespace?: boolean;
  readonly image: string;
  readonly replicas: number;
  /** As in `--controllers`. */
  readonly controllers: readonly string[];
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly actAs: ActAs;
  readonly impersonation: ImpersonationScope;
  readonly dryRun: boolean;
  /** The families that `controllers` selects. */
  readonly families: readonly FamilyNeeds[];
}

export const METRICS_PORT = 8080;
export const WEBHOOK_PORT = 9443;

export const labelsOf = ({ name }: Installation): Record<string, string> => ({
  'app.kubernetes.io/name': 'lapse',
  'app.kubernetes.io/instance': name,
});

export const metadataOf = (
  installation: Installation,
  name = installation.name,
): { name: string; namespace: string; labels: Record<string, string> } => ({
  name,
  namespace: installation.namespace,
  labels: labelsOf(installation),
});

/** For cluster-scoped kinds. */
export const clusterMetadataOf = (installation: Installation, name: string): KubeObject['metadata'] => ({
  name,
  labels: labelsOf(installation),
});

export const webhookService = ({ name }: Installation): string => `${name}-webhook`;
export const webhookSecret = ({ name }: Installation): string => `${name}-webhook`;

export const hooksOf = ({ families, actAs }: Installation): Hook[] =>
  families
    .flatMap(({ webhooks }) => webhooks)
    .filter(({ forAuthors }) => actAs !== 'controller' || !forAuthors);

const STAGES: Readonly<Record<string, string>> = { alpha: 'AllAlpha', beta: 'AllBeta' };

export const openGates = ({ featureGates }: Installation, family: FamilyNeeds): GateNeeds[] =>
  family.gates.filter(
    ({ name, stage, default: usual }) => featureGates[name] ?? featureGates[STAGES[stage] ?? ''] ?? usual,
  );

/** The rules of a family with the selected feature gates. */
export const familyRules = (installation: Installation, family: FamilyNeeds): Rule[] => [
  ...family.rules,
  ...openGates(installation, family).flatMap(({ rules }) => rules),
];

/** Sections of controllers that impersonate accounts which users name. */
const IMPERSONATING = new Set(['cleaner', 'ttlPolicy']);

function sectionOf({ namespace, impersonation }: Installation, section: string): JsonObject {
  const key = { authorKeySecret: { namespace } };
  if (!IMPERSONATING.has(section) || impersonation.kind === 'none') return key;
  const { kind } = impersonation;
  return { ...key, impersonation: kind === 'cluster' ? kind : { namespaces: [...impersonation.namespaces] } };
}

/** The content of the file for `--config`. */
export function configurationOf(installation: Installation): JsonObject {
  const { name, namespace, controllers, featureGates, actAs, dryRun, families } = installation;
  const sections = families.flatMap(({ authorSections }) => authorSections);
  const hooks = hooksOf(installation).length > 0;
  return {
    apiVersion: 'lapse.dev/v1alpha1',
    kind: 'LapseConfiguration',
    actAs,
    controllers: [...controllers],
    dryRun,
    featureGates: { ...featureGates },
    log: { format: 'json' },
    metrics: { bindAddress: `:${METRICS_PORT}` },
    ...Object.fromEntries(sections.map((section) => [section, sectionOf(installation, section)])),
    ...(hooks
      ? {
          webhook: {
            bindAddress: `:${WEBHOOK_PORT}`,
            configurations: [name],
            hosts: [`${webhookService(installation)}.${namespace}.svc`],
            secret: webhookSecret(installation),
          },
        }
      : {}),
  };
}
