// Strategy of Lease: PUT creates it, and an update needs a resourceVersion, since leader election depends on it.

import { type FieldError, forbidden, invalid, notSupported } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { NEGATIVE, qualifiedName } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { has, number, text } from '../values.ts';

const STRATEGIES = ['OldestEmulationVersion'];

function validate(lease: KubeObject): FieldError[] {
  const spec = specOf(lease);
  const errors: FieldError[] = [];
  const seconds = number(spec, 'leaseDurationSeconds');
  if (seconds !== undefined && seconds <= 0)
    errors.push(invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  const transitions = number(spec, 'leaseTransitions');
  if (transitions !== undefined && transitions < 0)
    errors.push(invalid('spec.leaseTransitions', transitions, NEGATIVE));
  if (has(spec, 'strategy')) errors.push(...validateStrategy(text(spec, 'strategy')));
  if (text(spec, 'preferredHolder') !== '' && text(spec, 'strategy') === '')
    errors.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  return errors;
}

function validateStrategy(strategy: string): FieldError[] {
  const path = 'spec.strategy.strategy';
  if (strategy.includes('/')) return qualifiedName(strategy, path);
  return STRATEGIES.includes(strategy) ? [] : [notSupported(path, strategy, STRATEGIES)];
}

/** Coordinated leader election is disabled by default: its fields are dropped, except when they are already stored. */
function dropCoordination(next: KubeObject, old: KubeObject | undefined): void {
  const spec = specOf(next);
  for (const field of ['strategy', 'preferredHolder'])
    if (old === undefined || !has(specOf(old), field)) delete spec[field];
}

export const leaseStrategy: Strategy = {
  nameRule: subdomainName,
  anyFinalizer: true,
  createOnUpdate: true,
  unconditionalUpdate: false,
  prepareForCreate: (lease) => dropCoordination(lease, undefined),
  prepareForUpdate: (next, old) => dropCoordination(next, old),
  validate,
  validateUpdate: validate,
};
