// Cases with a configuration other than the default, in which families need the rights that an option adds.

import { minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { choicesOf, ITEM } from 'lapse/cli/manifests/choices';
import type { Family } from 'lapse/controllers/family';
import type { Rule } from 'lapse/manager/rbac';
import { expect } from 'vitest';
import { configMap } from '../manifest/kit.ts';
import { captureViaSnapshots, keeperOf, manifestCapture, volumeRestore } from './requestCases.ts';
import { expectGone, type RightsCase } from './rightsCase.ts';

/** Requests expire by their own annotation, ten minutes after they have completed. */
const byAnnotation = (rightsCase: RightsCase, request: string): RightsCase => ({
  ...rightsCase,
  configuration: { ...rightsCase.configuration, requestTTL: { mode: 'annotation', ttl: '10m' } },
  async run(world) {
    await rightsCase.run(world);
    expect(await world.userClient.get(request)).toBeDefined();
    await world.timePasses(minutes(12));
    await expectGone(world, request);
  },
});

const FOLLOWED = 'configmaps';

/** A keeper follows a kind that the operator allows. */
const following: RightsCase = {
  configuration: { objectKeeper: { follow: [FOLLOWED] } },
  async run(world) {
    await world.start();
    const map = configMap('followed');
    await world.apply(map);
    await world.apply(await keeperOf(world, map));
    await world.timePasses(seconds(5));
    await world.userClient.delete('configmap/followed');
    await world.timePasses(seconds(30));
    await expectGone(world, 'objectkeeper/followed');
  },
};

/** By family: the case with the option. */
export const OPTION_CASES: Readonly<Record<string, RightsCase>> = {
  'volume-capture': byAnnotation(captureViaSnapshots, 'volumecapturerequest/nightly'),
  'volume-restore': byAnnotation(volumeRestore, 'volumerestorerequest/back'),
  'manifest-capture': byAnnotation(manifestCapture, 'manifestcapturerequest/before'),
  'object-keeper': following,
};

/** Rules that the chart adds to those of a family for the options of its case. */
export function optionRules(family: Family, known: readonly Family[]): Rule[] {
  const named = (rule: Rule): Rule =>
    rule.resources[0] === ITEM ? { ...rule, resources: [FOLLOWED] } : rule;
  return choicesOf(family, known).flatMap(({ rules }) => rules.map(named));
}

/** The roles, with these rules in an additional role. */
export const withOptionRules = (access: readonly KubeObject[], rules: readonly Rule[]): KubeObject[] => {
  const ours = access.filter(({ metadata }) => metadata.name === 'lapse:process');
  const copies = ours.map((object) => {
    const copy = structuredClone(object) as KubeObject & { roleRef?: { name: string }; rules?: unknown };
    copy.metadata = { ...copy.metadata, name: 'lapse:options' };
    if (copy.roleRef !== undefined) copy.roleRef.name = 'lapse:options';
    else copy.rules = rules;
    return copy;
  });
  return [...access, ...copies];
};
