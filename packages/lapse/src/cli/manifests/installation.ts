// What is installed, as one value: names, namespace, image, which families with which gates. Everything else that is
// printed follows from it. Pure.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ImpersonationScope } from '#deletion/impersonation';
import type { Rule } from '#manager/rbac';
import type { FamilyNeeds, GateNeeds, Hook } from './needs.ts';

export type ActAs = 'author' | 'controller' | 'impersonate-author';

export interface Installation {
  /** Of the Deployment and everything beside it. */
  readonly name: string;
  readonly namespace: string;
  /** With its Namespace, which goes with everything else again. */
  readonly createNamespace?: boolean;
  readonly image: string;
  readonly replicas: number;
  /** As for `--controllers`. */
  readonly controllers: readonly string[];
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly actAs: ActAs;
  readonly impersonation: ImpersonationScope;
  readonly dryRun: boolean;
  /** Those that `controllers` selects. */
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

/** For kinds without namespaces. */
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

/** The rules of a family with the gates as they are. */
export const familyRules = (installation: Installation, family: FamilyNeeds): Rule[] => [
  ...family.rules,
  ...openGates(installation, family).flatMap(({ rules }) => rules),
];

/** Sections of controllers that impersonate the accounts which users name. */
const IMPERSONATING = new Set(['cleaner', 'ttlPolicy']);

function sectionOf({ namespace, impersonation }: Installation, section: string): JsonObject {
  const key = { authorKeySecret: { namespace } };
  if (!IMPERSONATING.has(section) || impersonation.kind === 'none') return key;
  const { kind } = impersonation;
  return { ...key, impersonation: kind === 'cluster' ? kind : { namespaces: [...impersonation.namespaces] } };
}

/** What the process reads from `--config`. */
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
