// What the chart installs, with every gate open, so that every rule it can give is there.

import type { Installation } from '#cmd/manifests/installation';
import { needsOf } from '#cmd/manifests/needs';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';

export const NAMESPACE = 'lapse-system';

export const installationOf = (...families: readonly Family[]): Installation => ({
  name: 'lapse',
  namespace: NAMESPACE,
  image: '',
  replicas: 1,
  controllers: families.map(({ name }) => name),
  featureGates: { AllAlpha: true },
  actAs: 'author',
  dryRun: false,
  families: families.map((family) => needsOf(family, FAMILIES)),
});
