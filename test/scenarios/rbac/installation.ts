// What the chart installs, with every feature gate enabled.

import { NO_IMPERSONATION } from 'lapse/authors/impersonation';
import type { Installation } from 'lapse/cli/manifests/installation';
import { needsOf } from 'lapse/cli/manifests/needs';
import type { Family } from 'lapse/controllers/family';
import { FAMILIES } from 'lapse/controllers/registry';

export const NAMESPACE = 'lapse-system';

export const installationOf = (...families: readonly Family[]): Installation => ({
  name: 'lapse',
  namespace: NAMESPACE,
  image: '',
  replicas: 1,
  controllers: families.map(({ name }) => name),
  featureGates: { AllAlpha: true },
  actAs: 'author',
  impersonation: NO_IMPERSONATION,
  dryRun: false,
  families: families.map((family) => needsOf(family, FAMILIES)),
});

/** The same, with every rule that the chart can grant. */
export const impersonatingInstallationOf = (...families: readonly Family[]): Installation => ({
  ...installationOf(...families),
  impersonation: { kind: 'cluster' },
});
